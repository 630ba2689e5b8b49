"""The head: one matrix product from hidden states to a score for every token."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import Array, as_head, as_numbers


def unembed(h: ArrayLike, W_U: ArrayLike, b: ArrayLike | None = None) -> Array:
    r"""Logits of every token: $z = h W_U + b$, that is $z_j = h \cdot W_U[:, j] + b_j$.

    Args:
      h: hidden states after the final norm, `[..., d_model]`.
      W_U: the unembedding, `[d_model, vocab]`: column j belongs to token j. A tied head passes `tie(E)`.
      b: a bias `[vocab]`, or None, as in most models.

    Returns:
      Logits `[..., vocab]`, in float32 or float64 (float16 is computed in float32, integers in float64). A score beyond
      the type's range is inf, with NumPy's warning.

    Raises:
      ValueError: shapes that do not fit; the message says which way round the matrix looks.
      TypeError: arrays that are not real numbers.

    >>> unembed([1.0, 2.0], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]).tolist()
    [1.0, 2.0, 1.5]
    """
    h, W_U, b = as_head(h, W_U, b)
    with np.errstate(under="ignore"):
        logits = h @ W_U.astype(h.dtype, copy=False)
        return logits if b is None else logits + b


def tie(E: Array) -> Array:
    r"""The head of a tied model: $W_U = E^\top$, a view of the embedding `[vocab, d_model]`, never a copy.

    >>> import numpy as np
    >>> E = np.ones((5, 3))
    >>> tie(E).shape, np.shares_memory(E, tie(E))
    ((3, 5), True)
    """
    if not isinstance(E, np.ndarray):  # a list has no memory to share
        raise TypeError(f"E must be an array, so that the head can be a view of it; got {type(E).__name__}")
    if as_numbers(E, "E").ndim != 2:
        raise ValueError(f"E must be [vocab, d_model]; got shape {E.shape}")
    return E.T
