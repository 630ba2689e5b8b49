"""The head: one matrix product from hidden states to a score for every token."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import Array, as_floats


def unembed(h: ArrayLike, W_U: ArrayLike, b: ArrayLike | None = None) -> Array:
    r"""Logits of every token: $z = h W_U + b$, that is $z_j = h \cdot W_U[:, j] + b_j$.

    Args:
      h: hidden states after the final norm, `[..., d_model]`.
      W_U: the unembedding, `[d_model, vocab]`: column j belongs to token j. A tied head passes `tie(E)`.
      b: a bias `[vocab]`, or None, as in most models.

    Returns:
      Logits `[..., vocab]`, in float32 or float64 (float16 is computed in float32, integers in float64).

    Raises:
      ValueError: shapes that do not fit; the message says which way round the matrix looks.
      TypeError: arrays that are not real numbers.

    >>> unembed([1.0, 2.0], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]).tolist()
    [1.0, 2.0, 1.5]
    """
    h, W_U = as_floats(h, "h"), as_floats(W_U, "W_U")
    require_head_shapes(h, W_U)
    logits = h @ W_U
    if b is None:
        return logits
    b = as_floats(b, "b")
    if b.shape != W_U.shape[1:]:
        raise ValueError(f"b must be [vocab] = {W_U.shape[1:]}, one number a token; got {b.shape}")
    return logits + b


def tie(E: Array) -> Array:
    r"""The head of a tied model: $W_U = E^\top$, a view of the embedding `[vocab, d_model]`, never a copy.

    >>> import numpy as np
    >>> E = np.ones((5, 3))
    >>> tie(E).shape, np.shares_memory(E, tie(E))
    ((3, 5), True)
    """
    if not isinstance(E, np.ndarray):  # a list has no memory to share
        raise TypeError(f"E must be an array, so that the head can be a view of it; got {type(E).__name__}")
    if E.ndim != 2:
        raise ValueError(f"E must be [vocab, d_model]; got shape {E.shape}")
    return E.T


def require_head_shapes(h: Array, W_U: Array) -> None:
    """Refuse an `h` and a `W_U` that do not fit, and say what the shapes look like instead."""
    if W_U.ndim != 2:
        raise ValueError(f"W_U must be [d_model, vocab]; got shape {W_U.shape}")
    if h.ndim == 0:
        raise ValueError("h must be [..., d_model]; got a single number")
    d_model = W_U.shape[0]
    if h.shape[-1] == d_model:
        return
    if h.shape[-1] == W_U.shape[1]:
        raise ValueError(
            f"W_U must be [d_model, vocab]; got {W_U.shape}, h has d_model {h.shape[-1]}: "
            "this looks like lm_head.weight, pass its transpose"
        )
    said = f"h must be [..., d_model] with d_model {d_model} as in W_U {W_U.shape}; got {h.shape}"
    if h.ndim == 2 and h.shape[0] == d_model:
        raise ValueError(f"{said}: this looks like [d_model, positions], pass h.T")
    raise ValueError(said)
