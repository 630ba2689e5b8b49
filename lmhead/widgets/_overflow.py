"""When softmax breaks: the naive and the shifted form side by side in three formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import Array
from lmhead.probabilities import softmax
from lmhead.widgets._view import Figure, Part, State, as_row, figure, note, slider, table, terms, with_words
from lmhead.widgets._write import decimals, short

FORMATS = {"float16": np.float16, "float32": np.float32, "float64": np.float64}

WORDS = {
    "caption": "Softmax of logits + {offset}, naive and shifted, in three formats",
    "offset": "offset on all logits",
    "token": "token",
    "stored": "stored",
    "naive": "naive",
    "shifted": "shifted",
    "sum": "sum of exp",
    "overflow": "The sum overflows: x / inf is 0, inf / inf is nan.",
    "underflow": "Every exp is 0: 0 / 0 is nan.",
    "inexact": "Off by up to {error}: the stored logits have lost digits.",
    "works": "Both forms are right.",
    "shift_only": "Only the shifted form is right.",
    "none_broken": "no format is broken",
    "broken": "naive softmax breaks in {formats}",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows, format by format: the `stored` logits, the `sum` of their exp, and p by both forms."""
    logits = np.asarray(state["logits"], np.float64)
    shown: dict[str, Any] = {"exact": softmax(logits).tolist()}
    for name, number in FORMATS.items():
        stored = (logits + state["offset"]).astype(number)
        total, naive = rounded_softmax(stored)
        shown[f"stored_{name}"] = stored.tolist()
        shown[f"sum_{name}"] = float(total)
        shown[f"naive_{name}"] = naive.tolist()
        shown[f"shifted_{name}"] = rounded_softmax(stored - stored.max())[1].tolist()
    return shown


def rounded_softmax(stored: Array) -> tuple[np.floating[Any], Array]:
    """The sum of exp and `exp(z) / sum`, every result rounded to the format of `stored`, as hardware would."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(stored.astype(np.float64)).astype(stored.dtype)  # NumPy's exp in float32 depends on the CPU
        total = np.cumsum(weights)[-1]  # one addition after the other
        return total, weights / total


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown = state["words"], numbers(state)
    parts = [note(words["caption"].format(offset=state["offset"]))]
    for name in FORMATS:
        stored, naive, shifted = (shown[f"{form}_{name}"] for form in ("stored", "naive", "shifted"))
        columns = zip(state["labels"], stored, naive, shifted, strict=True)
        rows = [[label, short(z), decimals(p), decimals(q)] for label, z, p, q in columns]
        parts += [
            table(name, [words[key] for key in ("token", "stored", "naive", "shifted")], rows),
            terms((words["sum"], decimals(shown[f"sum_{name}"]))),
            note(verdict(words, shown, name)),
        ]
    return parts


def verdict(words: Mapping[str, str], shown: Mapping[str, Any], name: str) -> str:
    """What goes wrong in a format, and why. A probability that is off by at most 1e-3 is called right."""
    off = {form: np.abs(np.subtract(shown[f"{form}_{name}"], shown["exact"])).max() for form in ("naive", "shifted")}
    cause = {np.inf: words["overflow"], 0.0: words["underflow"]}.get(shown[f"sum_{name}"], "")
    inexact = words["inexact"].format(error=decimals(off["shifted"])) if off["shifted"] > 1e-3 else ""
    return " ".join(filter(None, [cause, inexact])) or words["works" if off["naive"] <= 1e-3 else "shift_only"]


def overflow(
    logits: ArrayLike = (2.0, 1.0, 0.1),
    labels: Sequence[str] = ("cat", "dog", "fish"),
    *,
    offset: int = 90,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Softmax of `logits + offset` in float16, float32 and float64: `exp(z) / sum` beside `exp(z - max z) / sum`.

    The offset changes no probability. The naive form breaks all the same, in each format at its own offset; far out the
    shifted form loses digits too, which the stored logits no longer hold. (Negative offsets underflow to 0 / 0.)

    Args:
      logits: `[vocab]`, 2 to 6 tokens.
      labels: the tokens' texts.
      offset: whole, from -800 to 800; at 90 float16 and float32 are broken and float64 is not.
      words: replacements for words on the screen.

    Raises:
      ValueError: logits and labels that do not fit, an offset outside its slider.
    """
    z = as_row(logits, labels, most=6)
    if not -800 <= offset <= 800:
        raise ValueError(f"offset must be -800 to 800; got {offset}")
    words = with_words(WORDS, words)
    state = {"logits": z, "labels": list(labels), "offset": offset, "words": words}
    controls = {"offset": slider(words["offset"], offset, -800, 800, 1)}
    return figure("overflow", state, controls, said(state))
