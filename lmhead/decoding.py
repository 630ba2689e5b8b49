"""From logits to one token id: take the largest, or draw. The order is temperature, then top-k, then top-p."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import Array, as_int, as_logits, as_number, as_temperature, quietly, reject_bad_rows
from lmhead.probabilities import softmax


def greedy(logits: ArrayLike) -> Array:
    r"""The id of the largest logit, $\arg\max_j z_j$; the lower id among equals.

    Args:
      logits: `[..., vocab]`.

    Returns:
      int64 ids `[...]`.

    Raises:
      ValueError: NaN, +inf or -inf everywhere in a row.

    >>> int(greedy([-1.0, 0.0, 2.0]))
    2
    """
    return _as_valid_logits(logits).argmax(axis=-1).astype(np.int64)


def top_k(logits: ArrayLike, k: int) -> Array:
    """The logits with all but the k largest cut to -inf; at equal logits the lower id stays.

    Args:
      logits: `[..., vocab]`.
      k: how many stay, from 1 to vocab.

    Returns:
      Logits of the same shape, to be given to `softmax` or `top_p`.

    Raises:
      ValueError: k outside 1 to vocab; bad rows as in `greedy`.  TypeError: a k that is not an integer.

    Source: Fan, Lewis and Dauphin (2018), "Hierarchical neural story generation".

    >>> top_k([2.0, 1.0, 0.1], 2).tolist()
    [2.0, 1.0, -inf]
    """
    z = _as_valid_logits(logits)
    n = as_int(k, "k")
    if not 1 <= n <= z.shape[-1]:
        raise ValueError(f"top_k keeps between 1 and {z.shape[-1]} tokens (the vocabulary); got {k}")
    keep = np.zeros(z.shape, bool)
    np.put_along_axis(keep, _by_rank(z)[..., :n], True, axis=-1)
    return np.where(keep, z, z.dtype.type(-np.inf))


def top_p(logits: ArrayLike, p: float) -> Array:
    r"""The logits with all cut to -inf but the smallest set of most likely tokens that holds probability p or more.

    The token that crosses p stays, so at least one always does; at equal logits the lower id comes first.

    Args:
      logits: `[..., vocab]`, after temperature and top-k.
      p: above 0, at most 1; 1 keeps every token.

    Returns:
      Logits of the same shape.

    Raises:
      ValueError: p outside (0, 1]; bad rows as in `greedy`.

    Source: Holtzman et al. (2020), "The curious case of neural text degeneration" (nucleus sampling).

    >>> top_p([2.0, 1.0, 0.1], 0.7).tolist()
    [2.0, 1.0, -inf]
    """
    z = _as_valid_logits(logits)
    mass = as_number(p, "top_p")
    if not 0 < mass <= 1:
        raise ValueError(f"top_p is a probability above 0 and at most 1; got {p}")
    if mass == 1:
        return z.copy()
    order = _by_rank(z)
    ranked = np.take_along_axis(softmax(z.astype(np.float64)), order, axis=-1)
    before = np.zeros(z.shape)  # the mass of the more likely tokens
    np.cumsum(ranked[..., :-1], axis=-1, out=before[..., 1:])
    keep = np.zeros(z.shape, bool)
    np.put_along_axis(keep, order, before < mass, axis=-1)
    return np.where(keep, z, z.dtype.type(-np.inf))


@quietly
def min_p(logits: ArrayLike, p: float) -> Array:
    r"""The logits with all cut to -inf but the tokens that are at least p times as likely as the most likely one.

    Token j stays where $p_j \ge p \cdot \max_i p_i$, which is $e^{z_j - \max_i z_i} \ge p$: no sum is needed. How many
    stay follows the row; equal logits stay or go together.

    Args:
      logits: `[..., vocab]`; a temperature before or after them gives different sets.
      p: from 0 to 1; 0 keeps every token, 1 the most likely alone and its equals.

    Returns:
      Logits of the same shape.

    Raises:
      ValueError: p outside 0 to 1; bad rows as in `greedy`.

    Source: Nguyen et al. (2024), "Turning up the heat: min-p sampling for creative and coherent LLM outputs".

    >>> min_p([2.0, 1.0, 0.1], 0.3).tolist()
    [2.0, 1.0, -inf]
    """
    z = _as_valid_logits(logits)
    if not 0 <= as_number(p, "min_p") <= 1:
        raise ValueError(f"min_p is a ratio from 0 to 1, of a token's probability to the largest; got {p}")
    wide = z.astype(np.float64)
    keep = np.exp(wide - wide.max(axis=-1, keepdims=True)) >= p
    return np.where(keep, z, z.dtype.type(-np.inf))


def sample(
    logits: ArrayLike,
    rng: np.random.Generator,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Array:
    r"""One id a row, drawn with probability softmax(z / τ) among the tokens that top-k and then top-p leave.

    Drawn by the inverse of the cumulative distribution: the first token at which the running sum passes u ~ U[0, 1).

    Args:
      logits: `[..., vocab]`.
      rng: a `numpy.random.Generator`; the same seed gives the same draws.
      temperature: above 0.
      top_k: keep the k most likely tokens; None keeps all.
      top_p: then keep the smallest set that holds this probability; None keeps all.

    Returns:
      int64 ids `[...]`.

    Raises:
      ValueError: temperature 0 (use `greedy`), and as `top_k` and `top_p`.  TypeError: an rng that is no Generator.

    >>> import numpy as np
    >>> sample(np.tile([2.0, 1.0, 0.1], (8, 1)), np.random.default_rng(0)).tolist()
    [0, 0, 0, 0, 1, 2, 0, 1]
    """
    _require_rng(rng)
    z = _tempered(logits, temperature)
    if top_k is not None:
        z = _keep_top_k(z, top_k)
    if top_p is not None:
        z = _keep_top_p(z, top_p)
    cdf = np.cumsum(softmax(z), axis=-1)
    u = rng.random(z.shape[:-1])[..., None]
    return (cdf <= u * cdf[..., -1:]).sum(axis=-1, dtype=np.int64)


def gumbel_argmax(logits: ArrayLike, rng: np.random.Generator, *, temperature: float = 1.0) -> Array:
    r"""One id a row, drawn with probability softmax(z / τ) without a softmax: $\arg\max_j (z_j/\tau + g_j)$.

    The $g_j = -\log(-\log u_j)$ are independent Gumbel noise.

    Arguments and errors as for `sample`.

    Source: Maddison, Tarlow and Minka (2014), "A* sampling"; the trick is older.

    >>> import numpy as np
    >>> gumbel_argmax(np.tile([2.0, 1.0, 0.1], (8, 1)), np.random.default_rng(0)).tolist()
    [2, 0, 0, 2, 1, 0, 2, 0]
    """
    _require_rng(rng)
    z = _tempered(logits, temperature)
    return (z + rng.gumbel(size=z.shape)).argmax(axis=-1).astype(np.int64)


_keep_top_k, _keep_top_p = top_k, top_p  # inside `sample` those names are its arguments


def _as_valid_logits(logits: ArrayLike) -> Array:
    z = as_logits(logits)
    reject_bad_rows(z.reshape(-1, z.shape[-1]), z.shape[:-1])
    return z


@quietly
def _tempered(logits: ArrayLike, temperature: float) -> Array:
    """(z - max z) / τ in float64: the shift changes no probability and keeps a small τ from overflowing."""
    z, t = _as_valid_logits(logits).astype(np.float64), as_temperature(temperature)
    scale = 0.5 if t > 1 else 1.0  # a difference beyond the largest float may be small after / τ
    z *= scale
    return (z - z.max(axis=-1, keepdims=True)) / (scale * t)


def _by_rank(z: Array) -> Array:
    """Ids from the largest logit to the smallest; a stable sort leaves equal logits in the order of their ids."""
    return np.argsort(-z, axis=-1, kind="stable")


def _require_rng(rng: np.random.Generator) -> None:
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, np.random.default_rng(seed); got {type(rng).__name__}")
