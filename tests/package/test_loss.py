"""The loss and its gradients: meaning, masks, reductions, and every message that they can give."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lmhead import (
    bits_per_byte,
    cross_entropy,
    cross_entropy_grad,
    head_grads,
    perplexity,
    shift_targets,
    softmax,
    tie,
    tied_grad,
    unembed,
)

RNG = np.random.default_rng(1)
Z = RNG.normal(0, 3, (5, 7))
Y = np.array([6, 0, 3, 3, 1])
IGNORED = np.array([6, -100, 3, -100, 1])


def finite_differences(function, x, step=1e-5):
    """The gradient of `function(x)` by central differences, entry by entry."""
    grad = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        grad[at] = (function(up) - function(down)) / (2 * step)
    return grad


# ---- the loss


def test_is_minus_log_of_the_target_probability():
    by_hand = [-np.log(np.exp(z)[y] / np.exp(z).sum()) for z, y in zip(Z, Y, strict=True)]
    assert np.allclose(cross_entropy(Z, Y, reduction="none"), by_hand, rtol=1e-13)
    assert np.isclose(cross_entropy(Z, Y), np.mean(by_hand), rtol=1e-13)
    assert np.isclose(cross_entropy(Z, Y, reduction="sum"), np.sum(by_hand), rtol=1e-13)


def test_any_leading_shape():
    z, y = RNG.normal(size=(2, 3, 4, 6)), RNG.integers(0, 6, (2, 3, 4))
    losses = cross_entropy(z, y, reduction="none")
    assert losses.shape == (2, 3, 4)
    assert losses[1, 2, 3] == cross_entropy(z[1, 2, 3], y[1, 2, 3])
    assert np.ndim(cross_entropy(z[0, 0, 0], 2, reduction="none")) == 0


def test_ignored_positions_cost_nothing_and_are_not_counted():
    losses = cross_entropy(Z, IGNORED, reduction="none")
    assert losses[[1, 3]].tolist() == [0.0, 0.0]
    assert cross_entropy(Z, IGNORED) == cross_entropy(Z[[0, 2, 4]], Y[[0, 2, 4]])
    grad = cross_entropy_grad(Z, IGNORED)
    assert not grad[[1, 3]].any()
    assert np.array_equal(grad[[0, 2, 4]], cross_entropy_grad(Z[[0, 2, 4]], Y[[0, 2, 4]]))


@pytest.mark.parametrize("ignore_index", [-1, 0, 6, np.int8(-1), 10**12])
def test_any_integer_can_stand_for_ignore(ignore_index):
    y = Y.copy()
    y[2] = ignore_index
    keep = y != ignore_index
    assert cross_entropy(Z, y, ignore_index=ignore_index) == cross_entropy(Z[keep], Y[keep])


@pytest.mark.parametrize("trouble", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("ignore_index", [-100, 0, 3])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_whatever_stands_in_an_ignored_row_touches_nothing(trouble, ignore_index, reduction):
    y = np.array([6, ignore_index, 5, ignore_index, 1])
    options = {"ignore_index": ignore_index, "reduction": reduction}
    z, counted = Z.copy(), [0, 2, 4]
    z[[1, 3]] = trouble
    assert cross_entropy(z, y, **options) == cross_entropy(Z[counted], y[counted], reduction=reduction)
    grad = cross_entropy_grad(z, y, **options)
    assert np.array_equal(grad[counted], cross_entropy_grad(Z[counted], y[counted], reduction=reduction))
    assert not grad[[1, 3]].any()
    h, W_U, b = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 7)), RNG.normal(size=7)
    broken = h.copy()
    broken[[1, 3]] = trouble
    with np.errstate(all="raise"):
        got = head_grads(broken, W_U, y, b=b, **options)
    clean = head_grads(h[counted], W_U, y[counted], b=b, reduction=reduction)
    np.testing.assert_allclose(got.h[counted], clean.h, rtol=1e-14)
    assert not got.h[[1, 3]].any()
    np.testing.assert_allclose(got.W_U, clean.W_U, rtol=1e-14)
    np.testing.assert_allclose(got.b, clean.b, rtol=1e-14)


def test_a_token_that_is_ignored_as_a_target_is_an_id_like_any_other_in_the_embedding():
    """`tied_grad` has no `ignore_index`: -100 is an error, and ids 0 and 3 are rows of E."""
    dE = tied_grad([0, 3, 0], np.ones((3, 2)), np.zeros((2, 4)))
    assert dE.tolist() == [[2, 2], [0, 0], [0, 0], [1, 1]]
    grads = head_grads([[1.0, 2.0], [np.nan, 0.0]], np.ones((2, 4)), [1, 3], ignore_index=3)
    dE = tied_grad(
        [0, 3], grads.h, grads.W_U
    )  # the gradient of an ignored position is 0, so nothing comes back from it
    assert np.isfinite(dE).all() and np.array_equal(dE[3], grads.W_U[:, 3])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_integer_type(dtype):
    assert cross_entropy(Z, Y.astype(dtype)) == cross_entropy(Z, Y)
    assert np.array_equal(cross_entropy_grad(Z, Y.astype(dtype)), cross_entropy_grad(Z, Y))


def test_all_ignored():
    nothing = np.full(5, -100)
    assert cross_entropy(Z, nothing, reduction="sum") == 0.0
    assert cross_entropy(Z, nothing, reduction="none").tolist() == [0.0] * 5
    assert not cross_entropy_grad(Z, nothing, reduction="sum").any()
    for function in (cross_entropy, cross_entropy_grad):
        with pytest.raises(
            ValueError, match=r"all 5 targets are ignore_index \(-100\): a mean over 0 positions is 0/0"
        ):
            function(Z, nothing)


def test_empty_batch():
    z, y = np.zeros((0, 7)), np.zeros(0, int)
    assert cross_entropy(z, y, reduction="none").shape == (0,)
    assert cross_entropy(z, [], reduction="sum") == 0.0
    with pytest.raises(ValueError, match='there are no targets: a mean over 0 positions is 0/0; reduction="sum"'):
        cross_entropy(z, y)


def test_one_token_vocabulary_costs_nothing():
    assert cross_entropy([[4.0], [-2.0]], [0, 0], reduction="none").tolist() == [0.0, 0.0]


def test_inputs_stay_as_they_are():
    z, y = Z.copy(), IGNORED.copy()
    z.flags.writeable = y.flags.writeable = False
    for reduction in ("none", "sum", "mean"):
        cross_entropy(z, y, reduction=reduction)
        cross_entropy_grad(z, y, reduction=reduction)
    assert np.array_equal(z, Z)


def test_no_rows_give_no_rows():
    for function in (softmax, cross_entropy_grad_of_none):
        assert function(np.zeros((0, 3))).shape == (0, 3)


def cross_entropy_grad_of_none(z):
    return cross_entropy_grad(z, np.zeros(0, int), reduction="sum")


def test_any_byte_order():
    assert cross_entropy(Z.astype(">f8"), Y.astype(">i4")) == cross_entropy(Z, Y)


def test_strided_and_reversed_input():
    assert cross_entropy(Z[::2, ::-1], [6, 3, 5]) == cross_entropy(Z[::2, ::-1].copy(), [6, 3, 5])
    assert np.array_equal(cross_entropy_grad(Z.T[:5].T, [4, 0, 3, 3, 1]), cross_entropy_grad(Z[:, :5], [4, 0, 3, 3, 1]))


rows = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=st.floats(-1e4, 1e4))


@settings(max_examples=150, deadline=None)
@given(rows, st.data())
def test_properties(z, data):
    y = np.array(data.draw(st.lists(st.integers(0, z.shape[1] - 1), min_size=len(z), max_size=len(z))))
    losses = cross_entropy(z, y, reduction="none")
    assert (losses >= 0).all() and np.isfinite(losses).all()
    p = softmax(z)
    assert np.allclose(p.sum(-1), 1.0, rtol=1e-12)
    grad = cross_entropy_grad(z, y, reduction="none")
    assert (np.abs(grad.sum(-1)) <= 1e-12).all()
    assert (grad[np.arange(len(z)), y] <= 0).all()
    shifted = cross_entropy(z + 2.0**14, y, reduction="none")  # softmax's shift invariance, to the rounding of z + c
    assert np.allclose(shifted, losses, atol=1e-11)


# ---- gradients


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("targets", [Y, IGNORED], ids=["all", "masked"])
def test_gradient_of_the_logits(targets, reduction):
    expected = finite_differences(lambda z: cross_entropy(z, targets, reduction=reduction), Z)
    assert np.allclose(cross_entropy_grad(Z, targets, reduction=reduction), expected, atol=1e-9)


def test_gradient_without_reduction_is_each_position_s_own():
    assert np.array_equal(cross_entropy_grad(Z, Y, reduction="none"), cross_entropy_grad(Z, Y, reduction="sum"))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_gradients_of_the_head(reduction, bias):
    h, W_U = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 7))
    b = RNG.normal(size=7) if bias else None

    def loss(h, W_U, b):
        return cross_entropy(unembed(h, W_U, b), IGNORED, reduction=reduction)

    grads = head_grads(h, W_U, IGNORED, b=b, reduction=reduction)
    assert np.allclose(grads.h, finite_differences(lambda x: loss(x, W_U, b), h), atol=1e-9)
    assert np.allclose(grads.W_U, finite_differences(lambda x: loss(h, x, b), W_U), atol=1e-9)
    if b is None:
        assert grads.b is None
    else:
        assert np.allclose(grads.b, finite_differences(lambda x: loss(h, W_U, x), b), atol=1e-9)


def test_gradients_of_the_head_over_nested_positions():
    h, W_U, y = RNG.normal(size=(2, 4, 3)), RNG.normal(size=(3, 7)), RNG.integers(0, 7, (2, 4))
    nested, flat = head_grads(h, W_U, y), head_grads(h.reshape(8, 3), W_U, y.ravel())
    assert nested.h.shape == (2, 4, 3)
    assert np.allclose(nested.h.reshape(8, 3), flat.h, rtol=1e-14)
    assert np.allclose(nested.W_U, flat.W_U, rtol=1e-14)


def test_gradient_of_a_tied_embedding_is_the_sum_of_both_uses():
    ids, targets = np.array([2, 0, 2, 5]), np.array([0, 2, 5, -100])  # token 2 is read twice
    body = RNG.normal(size=(3, 3))

    def loss(E):
        return cross_entropy(unembed(np.tanh(E[ids] @ body), tie(E)), targets)

    E = RNG.normal(size=(7, 3))
    h = np.tanh(E[ids] @ body)
    grads = head_grads(h, tie(E), targets)
    dx = (grads.h * (1 - h**2)) @ body.T
    assert np.allclose(tied_grad(ids, dx, grads.W_U), finite_differences(loss, E), atol=1e-9)


def test_a_tied_gradient_is_as_wide_as_its_wider_part():
    dE = tied_grad([0], np.array([[1e300, 0.0]]), np.zeros((2, 3), np.float32))
    assert dE.dtype == np.float64 and dE[0, 0] == 1e300


# ---- long sums: float32, measured against the sum of the magnitudes that enter


@pytest.mark.parametrize("d_model", [1, 2, 8])
def test_gradients_over_many_positions(d_model):
    """Added up one by one, 400,000 terms of float32 are off by 4e-3 of what enters."""
    n, vocab = 400_000, 10
    h, W_U = np.ones((n, d_model), np.float32), np.zeros((d_model, vocab), np.float32)
    grads = head_grads(h, W_U, np.zeros(n, int), b=np.zeros(vocab, np.float32))
    true = np.where(np.arange(vocab) == 0, -0.9, 0.1)
    assert grads.b.dtype == grads.W_U.dtype == np.float32
    assert (np.abs(grads.b - true) <= 2e-7 * np.abs(true)).all()
    assert (np.abs(grads.W_U - true) <= 1e-5 * np.abs(true)).all()


def test_the_gradient_of_one_position_over_a_large_vocabulary():
    vocab = 400_000
    dh = head_grads(np.zeros((1, 1), np.float32), np.ones((1, vocab), np.float32), [0]).h
    assert abs(dh[0, 0]) <= 2 * 1e-5  # the sum of the magnitudes is 2


def test_one_token_read_many_times():
    ids, dx = np.zeros(400_000, int), np.full((400_000, 2), 0.1, np.float32)
    ids[::4] = 3
    dE = tied_grad(ids, dx, np.zeros((2, 5), np.float32))
    assert dE.dtype == np.float32
    np.testing.assert_allclose(dE[[0, 3], 0] / np.float64(dx[0, 0]), [300_000, 100_000], rtol=2e-7)
    assert not dE[[1, 2, 4]].any()


# ---- targets and units


def test_shift_targets():
    ids = np.array([[5, 6, 7, 8], [1, 2, 3, 4]], np.uint16)
    assert shift_targets(ids).tolist() == [[6, 7, 8, -100], [2, 3, 4, -100]]
    assert shift_targets(ids).dtype == np.int64
    answer = np.array([[False, False, True, True], [True, True, False, True]])
    assert shift_targets(ids, answer).tolist() == [[-100, 7, 8, -100], [2, -100, 4, -100]]
    assert shift_targets([5, 6], ignore_index=-1).tolist() == [6, -1]
    assert shift_targets([9]).tolist() == [-100]
    assert shift_targets(np.zeros((2, 0), int)).shape == (2, 0)
    assert ids[0, 3] == 8


def test_tied_grad_of_no_ids_is_that_of_the_head():
    assert tied_grad([], np.zeros((0, 2)), np.ones((2, 3))).tolist() == np.ones((3, 2)).tolist()


def test_an_id_that_stands_for_ignore_is_not_predicted():
    assert shift_targets([5, 3, 6, 3], ignore_index=3).tolist() == [3, 6, 3, 3]
    assert shift_targets([5, 0, 6], [True, True, False], ignore_index=0).tolist() == [0, 0, 0]


def test_bits_per_byte_uses_the_numbers_that_it_was_given():
    for n_bytes in (123456789, np.int64(123456789), np.array(123456789), np.uint32(123456789)):
        assert round(bits_per_byte(1e9, n_bytes), 8) == 11.68582994
    for nats in (Fraction(10**9), Decimal(10**9), np.longdouble(1e9), np.float32(1e9), 10**9, np.array(1e9)):
        assert round(bits_per_byte(nats, 123456789), 8) == 11.68582994
    assert bits_per_byte(np.inf, 3) == np.inf
    assert type(bits_per_byte(np.float32(1.0), 3)) is float


def test_where_float64_ends():
    assert np.isfinite(perplexity(709.78)) and perplexity(709.79) == np.inf


def test_units():
    assert np.isclose(perplexity(np.log(50.0)), 50.0)
    assert perplexity([0.0, 1.0]).tolist() == [1.0, np.e]
    assert perplexity(1000.0) == np.inf
    assert perplexity(np.inf) == np.inf
    assert np.isclose(bits_per_byte(8 * np.log(2), 4), 2.0)
    assert bits_per_byte(0.0, np.int32(4)) == 0.0
    assert np.isclose(perplexity(np.float32(100.0)), np.exp(100.0))  # beyond float32


# ---- messages

NAN, INF, MASKED = Z.copy(), Z.copy(), Z.copy()
NAN[3, 2], INF[2, 4], MASKED[4] = np.nan, np.inf, -np.inf
SHAPES = "targets must have the shape of the logits less the vocabulary axis; logits "


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: cross_entropy(Z, [6, 0, 7, 3, 1]),
            IndexError,
            "target 2 is 7; token ids go from 0 to 6, and ignore_index is -100",
        ),
        (
            lambda: cross_entropy(Z.reshape(1, 5, 7), [[6, 0, 3, 3, -1]]),
            IndexError,
            "target (0, 4) is -1; token ids go from 0 to 6, and ignore_index is -100",
        ),
        (
            lambda: cross_entropy(Z[0], 9, ignore_index=0),
            IndexError,
            "the target is 9; token ids go from 0 to 6, and ignore_index is 0",
        ),
        (
            lambda: cross_entropy(Z, np.array([0, 0, 0, 0, 2**64 - 1], np.uint64)),
            IndexError,
            f"target 4 is {2**64 - 1}; token ids go from 0 to 6, and ignore_index is -100",
        ),
        (
            lambda: cross_entropy(Z, Y.astype(float)),
            TypeError,
            "targets must be token ids of an integer type; got float64",
        ),
        (lambda: cross_entropy(Z, Y > 2), TypeError, "targets must be token ids of an integer type; got bool"),
        (
            lambda: cross_entropy(Z, Y[:, None]),
            ValueError,
            SHAPES + "(5, 7), targets (5, 1): drop the last axis, targets[..., 0]",
        ),
        (
            lambda: cross_entropy(Z, np.eye(7, dtype=int)[Y]),
            ValueError,
            SHAPES + "(5, 7), targets (5, 7): these look like one-hot rows or probabilities, "
            "pass token ids (targets.argmax(-1))",
        ),
        (
            lambda: cross_entropy(np.zeros((2, 7, 4)), np.zeros((2, 4), int)),
            ValueError,
            SHAPES + "(2, 7, 4), targets (2, 4): the logits look like [N, vocab, positions], "
            "pass np.moveaxis(logits, 1, -1)",
        ),
        (lambda: cross_entropy(Z, Y[:3]), ValueError, SHAPES + "(5, 7), targets (3,)"),
        (lambda: cross_entropy(Z, 3), ValueError, SHAPES + "(5, 7), targets ()"),
        (
            lambda: cross_entropy(NAN, Y),
            ValueError,
            "logits row 3 has NaN at token 2: the numbers before the head went wrong",
        ),
        (
            lambda: cross_entropy_grad(INF, IGNORED),
            ValueError,
            "logits row 2 has +inf at token 4: the numbers before the head went wrong",
        ),
        (
            lambda: cross_entropy(MASKED.reshape(5, 1, 7), Y[:, None]),
            ValueError,
            "logits row (4, 0) is -inf at all 7 tokens: the mask leaves none to choose",
        ),
        (
            lambda: softmax(NAN.T, axis=0),
            ValueError,
            "logits row 3 has NaN at token 2: the numbers before the head went wrong",
        ),
        (lambda: softmax(1.0), ValueError, "logits must have a vocabulary axis; got a single number"),
        (
            lambda: softmax(np.zeros((3, 0))),
            ValueError,
            "logits must score at least one token; got shape (3, 0), an empty vocabulary",
        ),
        (
            lambda: softmax(np.zeros(3, complex)),
            TypeError,
            "logits must be float16, float32, float64 or integers; got complex128",
        ),
        (lambda: softmax(Z, axis=2), ValueError, "axis must be between -2 and 1 for logits (5, 7); got 2"),
        (
            lambda: softmax(Z, temperature=0),
            ValueError,
            "temperature 0 divides by zero; its limit is the largest logit, use greedy(logits)",
        ),
        (lambda: softmax(Z, temperature=-1), ValueError, "temperature must be a finite number above 0; got -1.0"),
        (lambda: softmax(Z, temperature=np.nan), ValueError, "temperature must be a finite number above 0; got nan"),
        (
            lambda: cross_entropy(Z, Y, reduction="avg"),
            ValueError,
            "reduction must be one of 'mean', 'sum', 'none'; got 'avg'",
        ),
        (
            lambda: head_grads(np.ones((5, 3)), np.ones((3, 7)), Y, reduction="none"),
            ValueError,
            "reduction must be one of 'mean', 'sum'; got 'none'",
        ),
        (lambda: cross_entropy(Z, Y, ignore_index=1.0), TypeError, "ignore_index must be an integer; got 1.0"),
        (lambda: cross_entropy(Z, Y, ignore_index=True), TypeError, "ignore_index must be an integer; got True"),
        (lambda: shift_targets([1, -100, 3]), IndexError, "ids hold -100; token ids go from 0 to"),
        (lambda: shift_targets(np.array([1, 2**63 + 5], np.uint64)), IndexError, "ids hold 9223372036854775813"),
        (
            lambda: shift_targets([1, 2], ignore_index=2**70),
            ValueError,
            "ignore_index must fit in 64 bits",
        ),
        (lambda: cross_entropy(Z[0], -100), ValueError, "the only target is ignore_index (-100): a mean over 0"),
        (
            lambda: cross_entropy([[1.0, 2.0], [1.0]], [0, 0]),
            ValueError,
            "logits must be a rectangular array; its rows differ in length",
        ),
        (
            lambda: softmax(np.ma.array([1.0, 2.0], mask=[0, 1])),
            TypeError,
            "logits is a masked array, whose mask would be lost: mask logits with -inf, targets with -100",
        ),
        (lambda: softmax(Z, axis=None), TypeError, "axis must be an integer; got None"),
        (lambda: softmax(Z, temperature=True), TypeError, "temperature must be one number; got True"),
        (lambda: softmax(Z, temperature="1"), TypeError, "temperature must be one number; got '1'"),
        (lambda: softmax(Z, temperature=None), TypeError, "temperature must be one number; got None"),
        (lambda: bits_per_byte("1", 2), TypeError, "nats must be one number; got '1'"),
        (lambda: bits_per_byte(np.nan, 2), ValueError, "the loss is NaN: the numbers before it went wrong"),
        (
            lambda: tied_grad([1], np.ones((1, 3)), np.ones((7, 3))),
            ValueError,
            "dx must be [..., d_model] with d_model 7 as in dW_U (7, 3); got (1, 3): dW_U looks transposed",
        ),
        (lambda: shift_targets(3), ValueError, "ids must be [..., positions]; got a single id"),
        (lambda: shift_targets([1.0, 2.0]), TypeError, "ids must be token ids of an integer type; got float64"),
        (
            lambda: shift_targets([1, 2], [0, 1]),
            TypeError,
            "mask must be bool, True at the tokens to predict; got int64 (mask == 1 makes one)",
        ),
        (lambda: shift_targets([1, 2], [True]), ValueError, "mask must have the shape of ids; ids (2,), mask (1,)"),
        (lambda: perplexity(-0.5), ValueError, "a cross-entropy is never below 0 nats; got -0.5: was a sign lost?"),
        (
            lambda: perplexity([1.0, np.nan]),
            ValueError,
            "the loss is NaN: the numbers before it went wrong",
        ),
        (
            lambda: bits_per_byte(-1.0, 3),
            ValueError,
            "a cross-entropy is never below 0 nats; got -1.0: was a sign lost?",
        ),
        (lambda: bits_per_byte(1.0, 0), ValueError, "n_bytes must be above 0; got 0"),
        (lambda: bits_per_byte(1.0, -3), ValueError, "n_bytes must be above 0; got -3"),
        (lambda: bits_per_byte(1.0, 2.5), TypeError, "n_bytes must be an integer; got 2.5"),
        (
            lambda: bits_per_byte(np.ones(3), 3),
            ValueError,
            "nats must be the summed loss, one number; got shape (3,): pass losses.sum()",
        ),
        (
            lambda: tied_grad([7], np.ones((1, 3)), np.ones((3, 7))),
            IndexError,
            "ids hold 7; token ids go from 0 to 6",
        ),
        (
            lambda: tied_grad([-1], np.ones((1, 3)), np.ones((3, 7))),
            IndexError,
            "ids hold -1; token ids go from 0 to 6",
        ),
        (
            lambda: tied_grad([1.0], np.ones((1, 3)), np.ones((3, 7))),
            TypeError,
            "ids must be token ids of an integer type; got float64",
        ),
        (
            lambda: tied_grad([1], np.ones((1, 4)), np.ones((3, 7))),
            ValueError,
            "dx must be [..., d_model] with d_model 3 as in dW_U (3, 7); got (1, 4)",
        ),
        (
            lambda: tied_grad([1, 2], np.ones((1, 3)), np.ones((3, 7))),
            ValueError,
            "ids must have the shape of dx less d_model; dx (1, 3), ids (2,)",
        ),
        (
            lambda: tied_grad([1], np.ones((1, 3)), np.ones(3)),
            ValueError,
            "dW_U must be [d_model, vocab]; got shape (3,)",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_position_s_loss_and_gradient_have_the_precision_of_the_logits(dtype):
    z = Z.astype(dtype)
    assert cross_entropy(z, Y, reduction="none").dtype == cross_entropy_grad(z, Y).dtype == dtype
    assert cross_entropy(z, Y).dtype == cross_entropy(z[0], 1, reduction="none").dtype == dtype


def test_a_mean_of_losses_whose_sum_is_beyond_float64():
    assert cross_entropy([[1.5e308, 0.0]] * 2, [1, 1]) == 1.5e308
