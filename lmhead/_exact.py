"""Differences and sums that keep their digits."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array

_LONG = 2**15  # terms that a matrix product may add up in float32 before they are added to the others
_BLOCK = 2**17  # numbers that are widened at a time
_SMALL = 2**10  # a product with fewer numbers is not made by blocks, on some processors


def exact_gap(z: Array, top: Array, temperature: float = 1.0) -> tuple[Array, Array]:
    """`(z - top) / temperature` as a rounded value and what the rounding lost.

    exp turns an absolute error of its argument into a relative error of its value, so a gap of -100 that is off by
    its last bit would cost a probability six bits. Knuth's two-sum gives the error of the difference.
    """
    gap = z - top
    back = gap - z
    slip = (z - (gap - back)) - (top + back)
    if temperature != 1.0:
        quotient = gap / temperature
        slip = (slip + _remainder(gap, quotient, temperature)) / temperature
        beyond = np.isneginf(gap) & np.isfinite(z)  # a difference beyond the largest float may be small after / τ
        gap = np.where(beyond, z / temperature - top / temperature, quotient)
    return gap, np.where(np.isfinite(slip), slip, 0.0)  # -inf is exact


def _remainder(x: Array, quotient: Array, divisor: float) -> Array:
    """`x - quotient * divisor` without its rounding: Dekker's product of two halves of the digits each."""

    def halves(a: Array) -> tuple[Array, Array]:
        big = a * 134217729.0  # 2**27 + 1
        high = big - (big - a)
        return high, a - high

    product = quotient * divisor
    (q1, q2), (d1, d2) = halves(quotient), halves(np.asarray(divisor))
    error = ((q1 * d1 - product) + q1 * d2 + q2 * d1) + q2 * d2
    return (x - product) - error


def sum_of_products(a: Array, b: Array, out: Array) -> Array:
    r"""Write $a^\top b = \sum_n a_n b_n^\top$ to `out` `[i, j]`, for `a` `[N, i]` and `b` `[N, j]`; N may be large.

    A sum of N terms that float32 adds up one by one is off by up to N of its roundings, 2 % at 400,000. A product of
    matrices goes by blocks, and so does this one above `_LONG` terms; a small one, or one with a vector, does not, and
    is widened.
    """
    wide = np.zeros(out.shape) if out.size < _SMALL or 1 in out.shape else out
    step = 1 + _BLOCK // max(out.shape) if wide is not out else _LONG
    np.matmul(a[:step].T, b[:step], out=wide, dtype=wide.dtype)
    for start in range(step, len(a), step):
        wide += np.matmul(a[start : start + step].T, b[start : start + step], dtype=wide.dtype)
    if wide is not out:
        out[...] = wide
    return out
