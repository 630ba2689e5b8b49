"""The head: its shapes, its view of E, and what it says to a matrix that stands the wrong way round."""

from __future__ import annotations

import numpy as np
import pytest

from lmhead import tie, unembed

RNG = np.random.default_rng(0)


def test_one_product_scores_every_token():
    h, W_U, b = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 7)), RNG.normal(size=7)
    logits = unembed(h, W_U, b)
    by_token = [[h[n] @ W_U[:, j] + b[j] for j in range(7)] for n in range(3)]
    assert np.allclose(logits, by_token, rtol=1e-13)
    assert unembed(h[1], W_U).shape == (7,)
    assert unembed(np.ones((2, 3, 4)), W_U).shape == (2, 3, 7)


@pytest.mark.parametrize(
    ("given", "computed"), [("float16", "float32"), ("float32", "float32"), ("float64", "float64"), ("int8", "float64")]
)
def test_types(given, computed):
    assert unembed(np.ones(4, given), np.ones((4, 7), given)).dtype == computed


def test_float16_scores_do_not_overflow():
    assert unembed(np.full(600, 60, np.float16), np.full((600, 2), 60, np.float16))[0] == 600 * 3600


def test_tie_is_a_view():
    E = RNG.normal(size=(7, 4))
    W_U = tie(E)
    assert W_U.shape == (4, 7)
    assert np.shares_memory(W_U, E)
    E[5, 2] = 99.0
    assert W_U[2, 5] == 99.0


def test_inputs_stay_as_they_are():
    h, W_U, b = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 7)), RNG.normal(size=7)
    for array in (h, W_U, b):
        array.flags.writeable = False
    unembed(h, W_U, b)
    unembed(h, W_U)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: unembed(np.ones(512), np.ones((1000, 512))),
            ValueError,
            "W_U must be [d_model, vocab]; got (1000, 512), h has d_model 512: "
            "this looks like lm_head.weight, pass its transpose",
        ),
        (
            lambda: unembed(np.ones((4, 3)), np.ones((4, 7))),
            ValueError,
            "h must be [..., d_model] with d_model 4 as in W_U (4, 7); got (4, 3): "
            "this looks like [d_model, positions], pass h.T",
        ),
        (
            lambda: unembed(np.ones(5), np.ones((4, 7))),
            ValueError,
            "h must be [..., d_model] with d_model 4 as in W_U (4, 7); got (5,)",
        ),
        (lambda: unembed(1.0, np.ones((4, 7))), ValueError, "h must be [..., d_model]; got a single number"),
        (lambda: unembed(np.ones(4), np.ones(4)), ValueError, "W_U must be [d_model, vocab]; got shape (4,)"),
        (
            lambda: unembed(np.ones(4), np.ones((4, 7)), np.ones(4)),
            ValueError,
            "b must be [vocab] = (7,), one number per token; got (4,)",
        ),
        (
            lambda: unembed(np.ones(4), np.ones((4, 7)), np.ones((1, 7))),
            ValueError,
            "b must be [vocab] = (7,), one number per token; got (1, 7)",
        ),
        (
            lambda: unembed(np.ones(4, complex), np.ones((4, 7))),
            TypeError,
            "h must be float16, float32, float64 or integers; got complex128",
        ),
        (
            lambda: unembed(np.ones(4), np.ones((4, 7), bool)),
            TypeError,
            "W_U must be float16, float32, float64 or integers; got bool",
        ),
        (lambda: tie(np.ones(3)), ValueError, "E must be [vocab, d_model]; got shape (3,)"),
        (lambda: tie([[1.0]]), TypeError, "E must be an array, so that the head can be a view of it; got list"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message
