"""softmax, log_softmax, logsumexp, the loss and its gradient against 50 digits, where peers lose some or all."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from lmhead import cross_entropy, cross_entropy_grad, log_softmax, logsumexp, softmax
from tests.support.reference import exact, ulps, worst

FLOATS = (np.float32, np.float64)


def lead(gap: float, vocab: int = 1000):
    """The last token leads all others, which lie within one unit, by `gap`: its p nears 1."""
    z = np.random.default_rng(int(gap)).uniform(-1, 0, vocab)
    z[-1] = gap
    return z


def families():
    rng = np.random.default_rng(7)
    yield "normal", rng.normal(0, 3, 1000)
    yield "offset 1000", rng.normal(1000, 3, 1000)
    yield "thousands", rng.normal(0, 1e3, 200)
    yield "ten thousands", rng.normal(0, 1e4, 200)
    yield "near ties", 5.0 + rng.integers(0, 3, 500) * 1e-7
    yield "exact ties", np.full(300, -2.5)
    yield "two far apart", np.array([0.0, -700.0, -740.0, -80.0, -100.0])
    yield "one token", np.array([3.25])
    yield "masked", np.array([1.0, -np.inf, 2.0, -np.inf, 0.5])
    yield "huge", np.array([1e30, -1e30, 1e30, 0.0])
    for gap in (5, 14, 18, 25, 36, 46, 60, 80, 100):
        yield f"lead {gap}", lead(gap)


CASES = [(f"{name}, {dtype.__name__}", z.astype(dtype)) for name, z in families() for dtype in FLOATS]


@pytest.mark.parametrize("z", [z for _, z in CASES], ids=[name for name, _ in CASES])
def test_within_a_few_units_of_the_last_place(z):
    true = exact(z)
    assert worst(softmax(z), true.softmax) <= 4
    assert worst(log_softmax(z), true.log_softmax) <= 2
    assert ulps(logsumexp(z), true.logsumexp, max(abs(true.logsumexp), abs(mpmath.mpf(float(z.max()))))) <= 2
    for y in {0, len(z) // 2, len(z) - 1}:
        assert ulps(cross_entropy(z, y), true.loss(y)) <= (2 if z.dtype == np.float32 else 3)
        grad, true_grad = cross_entropy_grad(z, y), true.grad(y)
        assert ulps(grad[y], true_grad[y]) <= 2
        assert worst(grad, true_grad) <= 4


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.long
def test_a_whole_vocabulary(dtype):
    z = np.random.default_rng(3).normal(0, 4, 49_152).astype(dtype)
    true = exact(z)
    assert worst(softmax(z), true.softmax) <= 4
    assert worst(log_softmax(z), true.log_softmax) <= 2
    assert ulps(cross_entropy(z, 5), true.loss(5)) <= (2 if dtype == np.float32 else 3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("temperature", [0.1, 0.7, 1.3, 3.0, 1e-3, 1e6])
def test_temperature_keeps_the_digits(dtype, temperature):
    z = np.random.default_rng(4).normal(0, 10, 300).astype(dtype)
    true = exact(z, temperature)
    assert worst(softmax(z, temperature=temperature), true.softmax) <= 4
    assert worst(log_softmax(z, temperature=temperature), true.log_softmax) <= 2
    scale = max(abs(true.logsumexp), abs(mpmath.mpf(float(z.max())) / mpmath.mpf(temperature)))
    assert ulps(logsumexp(z, temperature=temperature), true.logsumexp, scale) <= 2


@pytest.mark.long
def test_long_sums_along_the_first_axis():
    """Sums over 4 million float32 numbers, strided: where others carry a float32 sum and lose 2 %."""
    vocab = 4_000_000
    z = np.zeros((vocab, 2), np.float32)
    z[:, 1] = 1.5
    expected = mpmath.log(vocab)
    assert ulps(logsumexp(z, axis=0)[0], expected) <= 1
    assert ulps(log_softmax(z, axis=0)[-1, 1], -expected) <= 1
    assert ulps(softmax(z, axis=0)[vocab // 2, 0], mpmath.mpf(1) / vocab) <= 1


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("dtype", FLOATS)
def test_any_axis_gives_the_same_numbers(axis, dtype):
    z = np.random.default_rng(5).normal(0, 5, (4, 5, 6)).astype(dtype)
    rows_last = np.moveaxis(z, axis, -1)
    for function in (softmax, log_softmax):
        assert np.array_equal(np.moveaxis(function(z, axis=axis), axis, -1), function(rows_last))
    assert np.array_equal(logsumexp(z, axis=axis), logsumexp(rows_last))


def test_a_mean_over_many_positions_is_summed_in_float64():
    z = np.tile(np.float32([0.0, 0.1]), (300_000, 1))
    one = exact(z[0]).loss(0)
    assert ulps(cross_entropy(z, np.zeros(len(z), int)), one) <= 1
    total = cross_entropy(z, np.zeros(len(z), int), reduction="sum")
    assert ulps(total, one * len(z)) <= 1


def test_float16_is_computed_in_float32_and_integers_in_float64():
    z = np.random.default_rng(6).normal(0, 3, (10_000, 7)).astype(np.float16)
    y = np.arange(10_000) % 7
    assert cross_entropy(z, y).dtype == np.float32
    assert cross_entropy(z, y) == cross_entropy(z.astype(np.float32), y)
    assert softmax([[1, 2], [3, 4]]).dtype == np.float64
    assert np.array_equal(softmax(np.array([1, 2], np.int8)), softmax([1.0, 2.0]))


def test_the_largest_numbers_there_are_raise_no_warning():
    biggest = np.finfo(np.float64).max
    z = np.array([biggest, -biggest, 0.0])
    assert softmax(z).tolist() == [1.0, 0.0, 0.0]
    assert logsumexp(z) == biggest
    assert cross_entropy(z, 0) == 0.0
    assert cross_entropy(z, 2) == biggest
    assert cross_entropy(z, 1) == np.inf  # twice the largest float64
    assert cross_entropy(np.array([[biggest, 0.0], [biggest, 0.0]]), [1, 1]) == biggest


def test_a_difference_beyond_the_largest_float_may_be_small_after_the_temperature():
    z, t = np.array([1.7e308, -1.7e308, 0.0]), 1e308
    true = exact(z, t)
    assert np.allclose(softmax(z, temperature=t), [float(p) for p in true.softmax], rtol=1e-14)
    assert softmax([0.0, -1e305], temperature=0.5).tolist() == [1.0, 0.0]
    assert np.allclose(log_softmax(z, temperature=t), [float(p) for p in true.log_softmax], rtol=1e-14)


def test_a_masked_target_costs_infinity_and_a_masked_token_nothing():
    z = np.array([1.0, -np.inf, 0.5])
    assert cross_entropy(z, 1) == np.inf
    assert cross_entropy(z, 2) == cross_entropy(z[[0, 2]], 1)
    assert cross_entropy_grad(z, 2)[1] == 0.0
