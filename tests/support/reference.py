"""The head's mathematics in 50 digits, and the distance to it in units of the last place."""

from __future__ import annotations

from typing import Any, NamedTuple

import mpmath
import numpy as np

mpmath.mp.dps = 50

Array = np.ndarray[Any, Any]


class Exact(NamedTuple):
    """One row of logits, decomposed in 50 digits; every entry is an mpmath number."""

    softmax: list[Any]
    log_softmax: list[Any]
    logsumexp: Any

    def loss(self, y: int) -> Any:
        return -self.log_softmax[y]

    def grad(self, y: int) -> list[Any]:
        others = sum(p for j, p in enumerate(self.softmax) if j != y)
        return [-others if j == y else p for j, p in enumerate(self.softmax)]


def exact(z: Array, temperature: float = 1.0) -> Exact:
    """The row `z` `[vocab]`, each of its floats taken as the exact number that it is."""
    scaled = [mpmath.mpf(float(x)) / mpmath.mpf(float(temperature)) for x in z]
    top = max(scaled)
    weights = [mpmath.exp(x - top) for x in scaled]
    rest = mpmath.fsum(sorted(weights)[:-1])  # without the largest weight, which is 1
    log_total = mpmath.log1p(rest)
    total = 1 + rest
    return Exact([w / total for w in weights], [x - top - log_total for x in scaled], top + log_total)


def ulps(got: Any, true: Any, scale: Any = None) -> Any:
    """|got - true| in units of the last place that `got`'s type has at `scale` (at `true` if not given), each entry.

    Of a subnormal float64 to half a unit.
    """
    got, true = np.asarray(got), np.asarray(true, object)
    near = true.astype(np.float64)
    rest = np.asarray(true - near, np.float64)  # near and rest together have 32 digits
    with np.errstate(invalid="ignore", over="ignore"):
        size = (near if scale is None else np.float64(scale)).astype(got.dtype)
        distance = np.abs((got - near) - rest) / np.spacing(np.abs(size))
    return np.where(np.isfinite(size), distance, np.where(got == near.astype(got.dtype), 0.0, np.inf))


def worst(got: Array, true: list[Any]) -> float:
    """The largest distance of any entry."""
    assert len(got) == len(true)
    return float(np.max(ulps(got, true)))
