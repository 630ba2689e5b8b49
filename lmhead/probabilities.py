"""softmax, log_softmax and logsumexp over a vocabulary of any size, right to the last digits.

All three, and the loss, come out of one decomposition of a row of logits z at temperature τ. With k the largest logit,

    gap_j  = (z_j - z_k) / τ                  never positive, so exp never overflows
    rest   = sum over j != k of exp(gap_j)    what all other tokens weigh against the winner's 1

    softmax_j     = exp(gap_j) / (1 + rest)
    log_softmax_j = gap_j - log1p(rest)
    logsumexp     = z_k / τ + log1p(rest)

The winner's own 1 stays out of `rest`: as its probability nears 1, `rest` keeps digits that `1 + rest` has lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import Array, as_array, as_int, as_logits, as_temperature, quietly, reject_bad_rows
from lmhead._exact import exact_gap

_BLOCK = 2**18  # logits that are worked on at a time: bounds the float64 scratch memory, and stays in cache


class Rows(NamedTuple):
    """A block of n rows, decomposed as the head of this file says; everything is float64."""

    top: Array  # [n]        z_k, the largest logit
    winner: Array  # [n]     k, the lowest id among equals
    gap: Array  # [n, vocab] (z - z_k) / τ, rounded
    weight: Array  # [n, vocab] exp of the gap before it was rounded, and 0 at k
    rest: Array  # [n]       the sum of weight


@quietly
def softmax(logits: ArrayLike, *, temperature: float = 1.0, axis: int = -1) -> Array:
    r"""Probabilities of every token: $p_j = e^{z_j/\tau} / \sum_i e^{z_i/\tau}$.

    Args:
      logits: `[..., vocab]`, float32 or float64 (float16 is computed in float32, integers in float64). -inf is a legal
        mask: that token gets probability 0.
      temperature: τ > 0; below 1 sharpens, above 1 flattens.
      axis: the vocabulary's axis.

    Returns:
      An array of the shape of `logits`; along `axis` it sums to 1. The input is not modified.

    Raises:
      ValueError: NaN, +inf or -inf everywhere in a row; an empty vocabulary; a temperature that is not above 0.
      TypeError: logits that are not real numbers.

    Source: the shift by the largest logit is analysed in Blanchard, Higham and Higham (2021), "Accurately computing the
    log-sum-exp and softmax functions".

    >>> softmax([2.0, 1.0, 0.1]).round(4).tolist()
    [0.659, 0.2424, 0.0986]
    """
    (z, lead, axis), t = _as_rows(logits, axis), as_temperature(temperature)
    p = np.empty(z.shape, z.dtype)
    for block, row in decompose(z, t):
        weight = row.weight
        weight[np.arange(len(weight)), row.winner] = 1.0
        p[block] = weight / (1.0 + row.rest)[:, None]
    return np.moveaxis(p.reshape(*lead, z.shape[-1]), -1, axis)


@quietly
def log_softmax(logits: ArrayLike, *, temperature: float = 1.0, axis: int = -1) -> Array:
    r"""Log-probabilities in nats: $\log p_j = z_j/\tau - \log\sum_i e^{z_i/\tau}$.

    Arguments, errors and source as for `softmax`. Every entry keeps its relative accuracy, also the winner's own where
    its probability nears 1, and also where the probability itself would underflow to 0.

    >>> log_softmax([2.0, 1.0, 0.1]).round(4).tolist()
    [-0.417, -1.417, -2.317]
    """
    (z, lead, axis), t = _as_rows(logits, axis), as_temperature(temperature)
    log_p = np.empty(z.shape, z.dtype)
    for block, row in decompose(z, t):
        log_p[block] = row.gap - np.log1p(row.rest)[:, None]
    return np.moveaxis(log_p.reshape(*lead, z.shape[-1]), -1, axis)


@quietly
def logsumexp(logits: ArrayLike, *, temperature: float = 1.0, axis: int = -1) -> Array:
    r"""The logarithm of softmax's denominator: $\log\sum_i e^{z_i/\tau}$, in nats.

    Arguments, errors and source as for `softmax`; the result loses the vocabulary's axis.

    >>> float(logsumexp([2.0, 1.0, 0.1]).round(4))
    2.417
    """
    (z, lead, axis), t = _as_rows(logits, axis), as_temperature(temperature)
    lse = np.empty(len(z), z.dtype)
    for block, row in decompose(z, t):
        lse[block] = row.top / t + np.log1p(row.rest)
    return lse.reshape(lead)[()]


def decompose(z: Array, temperature: float = 1.0) -> Iterator[tuple[slice, Rows]]:
    """The decomposition of `z` `[N, vocab]`, a block of rows at a time, each with the slice of rows that it covers."""
    step = max(1, _BLOCK // z.shape[1])
    for start in range(0, len(z), step):
        block = slice(start, start + step)
        wide = z[block].astype(np.float64)
        row = np.arange(len(wide))
        winner = wide.argmax(axis=1)
        top = wide[row, winner]
        gap, slip = exact_gap(wide, top[:, None], temperature)
        weight = np.exp(gap)
        weight += weight * slip  # exp(gap + slip), as slip is below one rounding of gap
        weight[row, winner] = 0.0
        yield block, Rows(top, winner, gap, weight, weight.sum(axis=1))


def _as_rows(logits: ArrayLike, axis: int) -> tuple[Array, tuple[int, ...], int]:
    """Logits as `[N, vocab]`, the shape that their rows stood in, and where the vocabulary's axis stood."""
    array, axis = as_array(logits, "logits"), as_int(axis, "axis")
    if array.ndim and not -array.ndim <= axis < array.ndim:
        raise ValueError(
            f"axis must be between {-array.ndim} and {array.ndim - 1} for logits {array.shape}; got {axis}"
        )
    z = as_logits(np.moveaxis(array, axis, -1) if array.ndim else array)
    rows = np.ascontiguousarray(z.reshape(-1, z.shape[-1]))
    reject_bad_rows(rows, z.shape[:-1])
    return rows, z.shape[:-1], axis
