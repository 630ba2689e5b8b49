"""The columns of a 2-D W_U as arrows: the dot product, the cosine, and which token each would choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import as_floats
from lmhead.head import unembed
from lmhead.widgets._view import Figure, Part, State, figure, note, slider, table, with_words
from lmhead.widgets._write import decimals

WORDS = {
    "caption": "h against the columns of W_U",
    "angle": "angle of h (degrees)",
    "length": "length of h",
    "token": "token",
    "column_length": "column length",
    "cosine": "cosine with h",
    "logit": "logit",
    "h": "h",
    "best_logit": "highest logit: {token}",
    "best_cosine": "best cosine: {token}",
    "agree": "Direction and logit agree.",
    "disagree": "They disagree: the longer column wins the dot product.",
    "picture": "h and the columns of W_U as arrows from one point",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: `h`, every column's `logit` and `cosine`, and the id that is best by each."""
    W_U = np.asarray(state["W_U"], np.float64)
    angle = state["angle"] * np.pi / 180
    h = state["length"] * np.array([np.cos(angle), np.sin(angle)])
    logit = unembed(h, W_U)
    cosine = logit / (state["length"] * np.linalg.norm(W_U, axis=0))
    return {
        "h": h.tolist(),
        "logit": logit.tolist(),
        "cosine": cosine.tolist(),
        "best_logit": int(logit.argmax()),
        "best_cosine": int(cosine.argmax()),
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, labels, shown = state["words"], state["labels"], numbers(state)
    columns = zip(labels, np.linalg.norm(state["W_U"], axis=0), shown["cosine"], shown["logit"], strict=True)
    rows = [[label, *map(decimals, row)] for label, *row in columns]
    best = [words[key].format(token=labels[shown[key]]) for key in ("best_logit", "best_cosine")]
    verdict = words["agree" if shown["best_logit"] == shown["best_cosine"] else "disagree"]
    return [
        table(words["caption"], [words[key] for key in ("token", "column_length", "cosine", "logit")], rows),
        note(f"{'; '.join(best)}. {verdict}"),
    ]


def directions(
    W_U: ArrayLike,
    labels: Sequence[str],
    *,
    angle: int = 30,
    length: float = 2.0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """h, turned and stretched by sliders, against the columns of a W_U with d_model 2.

    For each column the dot product (the logit), the cosine and its length; the best by logit and the best by cosine
    are marked, and somewhere on the circle they are not the same token.

    Args:
      W_U: `[2, vocab]`, 2 to 8 columns, none of them 0.
      labels: the columns' tokens.
      angle: of h, in whole degrees from -180 to 180, counted from the first axis.
      length: of h, from 0.1 to 3.
      words: replacements for words on the screen.

    Raises:
      ValueError: a W_U of another shape or with a column of zeros, or a setting outside its slider.
    """
    columns = as_floats(W_U, "W_U").astype(np.float64)
    if columns.ndim != 2 or columns.shape[0] != 2 or columns.shape[1] != len(labels) or not 2 <= len(labels) <= 8:
        raise ValueError(f"W_U must be [2, vocab] with 2 to 8 labels; got {columns.shape} and {len(labels)} labels")
    if not np.isfinite(columns).all() or not columns.any(axis=0).all():
        raise ValueError("every column of W_U must be finite and not 0: a column of zeros has no direction")
    if not (-180 <= angle <= 180 and 0.1 <= length <= 3):
        raise ValueError(f"angle must be -180 to 180 degrees, length 0.1 to 3; got {angle}, {length}")
    words = with_words(WORDS, words)
    state = {"W_U": columns.tolist(), "labels": list(labels), "angle": angle, "length": float(length), "words": words}
    controls = {
        "angle": slider(words["angle"], angle, -180, 180, 1),
        "length": slider(words["length"], float(length), 0.1, 3.0, 0.1),
    }
    return figure("directions", state, controls, said(state), needs=["arithmetic"])
