"""What a variable holds that is named as `book/notation.md` names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def integers(x: Any) -> bool:
    return x.dtype.kind in "iu"


def probabilities(p: Any) -> bool:
    return p.min() >= 0 and np.allclose(p.sum(axis=-1), 1, atol=1e-6)


MEANINGS: dict[str, Callable[[Any], bool]] = {
    "E": lambda E: E.ndim == 2,
    "G": lambda G: np.allclose(G.sum(axis=-1), 0, atol=1e-6),
    "H": lambda H: H.ndim == 2,
    "L": lambda L: (L >= 0).all(),
    "R": lambda R: (R >= 0).all(),
    "S": lambda S: (S >= 1).all() or not S.all(),  # 0 before the first chunk
    "W_U": lambda W_U: W_U.ndim == 2,
    "W_lm": lambda W_lm: W_lm.ndim == 2,
    "b": lambda b: b.ndim == 1,
    "loss": lambda loss: (loss >= 0).all(),
    "p": probabilities,
    "rest": lambda rest: (rest >= 0).all(),
    "targets": integers,
    "y": integers,
}


def is_what_it_says(name: str, value: Any) -> bool:
    """Whether a variable of that name may hold that value."""
    return name not in MEANINGS or callable(value) or bool(MEANINGS[name](np.asarray(value)))
