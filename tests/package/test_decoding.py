"""From logits to one id: who stays, who is drawn and how often, and what a wrong setting is told."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lmhead import greedy, gumbel_argmax, min_p, sample, softmax, top_k, top_p

Z = np.array([2.0, 1.0, 0.1, 1.0, -3.0])
CUT = -np.inf


def test_greedy_takes_the_largest_and_the_lower_id_among_equals():
    assert greedy([[0.0, 3.0, 3.0], [5.0, 5.0, 1.0]]).tolist() == [1, 0]
    assert greedy(Z) == 0


def test_top_k_keeps_the_k_largest_and_the_lower_id_among_equals():
    assert top_k(Z, 1).tolist() == [2.0, CUT, CUT, CUT, CUT]
    assert top_k(Z, 2).tolist() == [2.0, 1.0, CUT, CUT, CUT]
    assert top_k(Z, 3).tolist() == [2.0, 1.0, CUT, 1.0, CUT]
    assert np.array_equal(top_k(Z, 5), Z)
    assert top_k(np.stack([Z, -Z]), 1)[1].tolist() == [CUT, CUT, CUT, CUT, 3.0]


def test_top_p_keeps_the_token_that_crosses():
    p = softmax(Z)
    assert top_p(Z, 0.01).tolist() == [2.0, CUT, CUT, CUT, CUT]
    assert top_p(Z, float(p[0])).tolist() == [2.0, CUT, CUT, CUT, CUT]
    assert top_p(Z, float(p[0]) + 1e-6).tolist() == [2.0, 1.0, CUT, CUT, CUT]
    assert top_p(Z, 0.8).tolist() == [2.0, 1.0, CUT, 1.0, CUT]
    assert np.array_equal(top_p(Z, 1), Z)
    assert top_p(np.stack([Z[::-1], Z]), 0.01)[0].tolist() == [CUT, CUT, CUT, CUT, 2.0]


def test_top_p_of_one_keeps_every_token_and_a_tiny_one_a_single_token():
    for z in (Z, np.array([100.0, 0.0, -100.0, -800.0]), np.float32([40.0, 0.0, -60.0]), np.zeros(7)):
        for one in (1, 1.0, np.float32(1), np.longdouble(1), Fraction(1), Decimal(1)):
            assert np.array_equal(top_p(z, one), z)
        assert np.isfinite(top_p(z, 5e-324)).sum() == 1
    z = np.array([CUT, 0.0, CUT])
    assert np.array_equal(top_p(z, 1.0), z)


def test_top_p_where_the_sum_equals_p():
    assert top_p(np.zeros(4), 0.5).tolist() == [0.0, 0.0, CUT, CUT]
    assert top_p(np.zeros(4), np.nextafter(0.5, 1)).tolist() == [0.0, 0.0, 0.0, CUT]


def test_hundreds_of_ties_and_sharp_logits():
    ties = np.tile([1.0, 0.0, 1.0, 0.0], 200)  # 400 of each
    assert np.flatnonzero(np.isfinite(top_k(ties, 401))).tolist() == sorted([*range(0, 800, 2), 1])
    kept = np.flatnonzero(np.isfinite(top_p(ties, 0.25 * float(softmax(ties)[::2].sum()))))
    assert kept.tolist() == [*range(0, 200, 2)]
    assert greedy(ties) == 0
    sharp = np.array([0.0, 1000.0, -1000.0, 999.0])
    assert top_p(sharp, 0.9).tolist() == [CUT, 1000.0, CUT, 999.0]
    assert top_k(sharp, 1).tolist() == [CUT, 1000.0, CUT, CUT]
    assert top_k([CUT, 2.0, CUT], 2).tolist() == [CUT, 2.0, CUT]


@pytest.mark.parametrize("draw", [sample, gumbel_argmax])
def test_temperatures_near_the_ends_of_float64(draw):
    """z / τ is small although the difference of the logits is beyond float64."""
    z = np.array([1.7e308, -1.7e308, 0.0])
    ids = draw(np.tile(z, (20_000, 1)), np.random.default_rng(8), temperature=1e308)
    assert chi_square(np.bincount(ids, minlength=3), softmax(z, temperature=1e308)) < 13.82
    ids = draw(np.tile([0.0, 5e-324], (20_000, 1)), np.random.default_rng(8), temperature=5e-324)
    assert chi_square(np.bincount(ids, minlength=2), softmax([0.0, 1.0])) < 10.83
    assert (draw(np.tile(z, (50, 1)), np.random.default_rng(8), temperature=5e-324) == 0).all()


def test_settings_are_used_as_they_were_converted():
    rng = np.random.default_rng
    expected = sample(np.tile(Z, (50, 1)), rng(1), temperature=0.5, top_k=3, top_p=0.75)
    given = {"temperature": Fraction(1, 2), "top_k": np.array(3), "top_p": Decimal("0.75")}
    assert np.array_equal(sample(np.tile(Z, (50, 1)), rng(1), **given), expected)


@settings(max_examples=150, deadline=None)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(-30, 30)), st.floats(0.01, 1.0))
def test_top_p_is_the_smallest_set_that_holds_p(z, p):
    kept = np.isfinite(top_p(z, p))
    masses = np.sort(softmax(z)[kept])
    assert masses.sum() >= p - 1e-12
    assert p == 1 or masses[1:].sum() < p + 1e-12  # without its least likely token it would hold less
    if not kept.all():
        assert softmax(z)[~kept].max() <= masses[0]


@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(-30, 30)), st.data())
def test_top_k_is_the_largest_k(z, data):
    k = data.draw(st.integers(1, len(z)))
    kept = np.isfinite(top_k(z, k))
    assert kept.sum() == k
    assert k == len(z) or z[kept].min() >= z[~kept].max()


def test_min_p_keeps_what_is_likely_enough_beside_the_best():
    assert min_p(Z, 1).tolist() == [2.0, CUT, CUT, CUT, CUT]
    assert min_p(Z, 0.3).tolist() == [2.0, 1.0, CUT, 1.0, CUT]  # e^-1 is 0.37, e^-1.9 is 0.15
    assert np.array_equal(min_p(Z, 0), Z)
    assert min_p([0.0, -900.0], 0).tolist() == [0.0, -900.0]  # also where exp is 0
    assert min_p([0.0, np.log(0.5), -1.0], 0.5).tolist() == [0.0, np.log(0.5), CUT]  # the bar itself stays
    assert min_p([3.0, 3.0, 2.9], 1).tolist() == [3.0, 3.0, CUT]
    assert min_p(np.stack([Z[::-1], Z]), 0.9)[0].tolist() == [CUT, CUT, CUT, CUT, 2.0]
    assert min_p([1000.0, 999.0, CUT], 0.1).tolist() == [1000.0, 999.0, CUT]
    with np.errstate(all="raise"):
        assert min_p([CUT, 0.0, -900.0], 0.1).tolist() == [CUT, 0.0, CUT]


@settings(max_examples=150, deadline=None)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(-30, 30)), st.floats(0.001, 1.0))
def test_min_p_is_a_ratio_of_probabilities(z, p):
    likely = softmax(z)
    kept = np.isfinite(min_p(z, p))
    assert kept[z.argmax()] and (likely[kept] >= p * likely.max() * (1 - 1e-9)).all()
    assert (likely[~kept] <= p * likely.max() * (1 + 1e-9)).all()


def chi_square(counts, p):
    expected = counts.sum() * p
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("draw", [sample, gumbel_argmax])
@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_follow_softmax(draw, temperature):
    ids = draw(np.tile(Z, (20_000, 1)), np.random.default_rng(8), temperature=temperature)
    counts = np.bincount(ids, minlength=5)
    assert chi_square(counts, softmax(Z, temperature=temperature)) < 18.47  # 4 degrees of freedom, one in a thousand


@pytest.mark.parametrize(
    ("p", "other_order"),
    [
        (0.72, lambda z: top_k(top_p(z / 2.0, 0.72), 3)),  # top-p first
        (0.75, lambda z: top_p(top_k(z, 3), 0.75)),  # temperature last
    ],
)
def test_sampling_order_is_temperature_then_top_k_then_top_p(p, other_order):
    left = np.isfinite(top_p(top_k(Z / 2.0, 3), p))
    assert not np.array_equal(left, np.isfinite(other_order(Z)))  # the case tells the orders apart
    ids = sample(np.tile(Z, (20_000, 1)), np.random.default_rng(9), temperature=2.0, top_k=3, top_p=p)
    assert np.array_equal(np.unique(ids), np.flatnonzero(left))
    assert chi_square(np.bincount(ids, minlength=5)[left], softmax(Z[left] / 2.0)) < 13.82


def test_a_seed_repeats_its_draws():
    many = np.tile(Z, (50, 1))
    for draw in (sample, gumbel_argmax):
        assert np.array_equal(draw(many, np.random.default_rng(3)), draw(many, np.random.default_rng(3)))


def test_masked_tokens_are_never_drawn():
    z = np.tile([CUT, 0.0, CUT, 1.0, CUT], (5000, 1))
    for draw in (sample, gumbel_argmax):
        assert set(np.unique(draw(z, np.random.default_rng(4)))) == {1, 3}


class Fixed(np.random.Generator):
    """Draws the same u each time."""

    def __init__(self, u):
        super().__init__(np.random.PCG64(0))
        self.u = u

    def random(self, *size, **_):
        return np.full(size[0] if size else (), self.u)


def test_the_ends_of_the_unit_interval_draw_tokens_that_were_left():
    assert sample([CUT, 0.0, CUT, 1.0, CUT], Fixed(0.0)) == 1
    for seed in range(50):
        z = np.append(np.random.default_rng(seed).normal(size=30), CUT)
        assert sample(z, Fixed(np.nextafter(1, 0))) < 30


def test_top_p_adds_up_in_float64():
    for seed in range(12):
        z = np.random.default_rng(seed).normal(0, 3, 50_000).astype(np.float32)
        assert np.array_equal(np.isfinite(top_p(z, 0.99)), np.isfinite(top_p(z.astype(float), 0.99)))


def test_extreme_temperatures():
    rng = np.random.default_rng(5)
    assert (sample(np.tile(Z, (100, 1)), rng, temperature=1e-300) == 0).all()
    assert (gumbel_argmax(np.tile(Z, (100, 1)), rng, temperature=1e-300) == 0).all()
    assert len(np.unique(sample(np.tile(Z, (1000, 1)), rng, temperature=1e300))) == 5


def test_shapes_and_untouched_input():
    z = np.tile(Z, (2, 3, 1))
    z.flags.writeable = False
    rng = np.random.default_rng(6)
    for ids in (greedy(z), sample(z, rng, top_k=2, top_p=0.9), gumbel_argmax(z, rng)):
        assert ids.shape == (2, 3)
        assert ids.dtype == np.int64
    for one in (greedy(Z), sample(Z, rng), gumbel_argmax(Z, rng)):
        assert np.ndim(one) == 0 and one.dtype == np.int64
    assert np.ndim(sample(Z, rng)) == 0
    assert top_p(z, 1) is not z
    assert min_p(z, 0) is not z and min_p(z.astype(np.float32), 0.5).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda rng: sample(Z, rng, temperature=0),
            ValueError,
            "temperature 0 divides by zero; its limit is the largest logit, use greedy(logits)",
        ),
        (
            lambda rng: gumbel_argmax(Z, rng, temperature=0.0),
            ValueError,
            "temperature 0 divides by zero; its limit is the largest logit, use greedy(logits)",
        ),
        (
            lambda rng: sample(Z, rng, temperature=np.inf),
            ValueError,
            "temperature must be a finite number above 0; got inf",
        ),
        (lambda rng: top_k(Z, 0), ValueError, "top_k keeps between 1 and 5 tokens (the vocabulary); got 0"),
        (lambda rng: sample(Z, rng, top_k=6), ValueError, "top_k keeps between 1 and 5 tokens (the vocabulary); got 6"),
        (lambda rng: top_k(Z, 2.0), TypeError, "k must be an integer; got 2.0"),
        (lambda rng: top_p(Z, 0.0), ValueError, "top_p is a probability above 0 and at most 1; got 0.0"),
        (lambda rng: sample(Z, rng, top_p=90), ValueError, "top_p is a probability above 0 and at most 1; got 90"),
        (lambda rng: top_p(Z, "0.9"), TypeError, "top_p must be one number; got '0.9'"),
        (lambda rng: sample(Z, rng, top_p=True), TypeError, "top_p must be one number; got True"),
        (lambda rng: top_p(Z, np.nan), ValueError, "top_p is a probability above 0 and at most 1; got nan"),
        (
            lambda rng: min_p(Z, 5),
            ValueError,
            "min_p is a ratio from 0 to 1, of a token's probability to the largest; got 5",
        ),
        (
            lambda rng: min_p(Z, np.nan),
            ValueError,
            "min_p is a ratio from 0 to 1, of a token's probability to the largest; got nan",
        ),
        (lambda rng: min_p(Z, [0.1]), TypeError, "min_p must be one number; got [0.1]"),
        (
            lambda rng: sample(Z, 0),
            TypeError,
            "rng must be a numpy Generator, np.random.default_rng(seed); got int",
        ),
        (
            lambda rng: greedy([[0.0, 1.0], [0.0, np.nan]]),
            ValueError,
            "logits row 1 has NaN at token 1: the numbers before the head went wrong",
        ),
        (
            lambda rng: gumbel_argmax([[0.0, 1.0], [CUT, CUT]], rng),
            ValueError,
            "logits row 1 is -inf at all 2 tokens: the mask leaves none to choose",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error) as caught:
        call(np.random.default_rng(0))
    assert str(caught.value) == message
