"""Logits to probabilities: temperature, top-k, top-p, the greedy choice and draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead.decoding import greedy, top_k, top_p
from lmhead.probabilities import softmax
from lmhead.widgets._view import Figure, Part, State, as_row, figure, named, slider, table, with_words
from lmhead.widgets._write import decimals, short

WORDS = {
    "caption": "From logits to probabilities",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "token": "token",
    "logit": "logit",
    "p": "probability",
    "greedy": "greedy",
    "cut": "cut",
    "draw": "Draw a token",
    "draws": "draws",
    "drawn": "draw {count}: {token}",
    "said": "most likely: {token}, {p}; {kept} kept",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: `before` the cuts, `p` after them, the ids `kept`, and the `greedy` id."""
    logits = np.asarray(state["logits"], np.float64)
    tempered = (logits - logits.max()) / state["temperature"]
    cut = top_p(top_k(tempered, state["top_k"]), state["top_p"])
    kept = np.flatnonzero(cut > -np.inf)
    return {
        "before": softmax(tempered).tolist(),
        "p": softmax(cut).tolist(),
        "kept": kept.tolist(),
        "greedy": int(greedy(logits)),
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown = state["words"], numbers(state)
    marks = {shown["greedy"]: words["greedy"]}
    marks |= {j: words["cut"] for j in range(len(state["labels"])) if j not in shown["kept"]}
    rows = [
        [named(label, marks.get(j, "")), short(z), decimals(p)]
        for j, (label, z, p) in enumerate(zip(state["labels"], state["logits"], shown["p"], strict=True))
    ]
    return [table(words["caption"], [words["token"], words["logit"], words["p"]], rows)]


def probabilities(
    logits: ArrayLike,
    labels: Sequence[str],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Bars of p under sliders for every logit, the temperature, top-k and top-p, and a button that draws a token.

    Tokens that top-k or top-p cut are greyed, with the probability that they had before; the greedy choice is marked.

    Args:
      logits: `[vocab]`, 2 to 12 tokens.
      labels: the tokens' texts.
      temperature: from 0.1 to 3.
      top_k: how many tokens stay; None keeps all.
      top_p: the mass that stays, from 0.05 to 1.
      words: replacements for words on the screen.

    Raises:
      ValueError: logits and labels that do not fit, or a setting outside its slider.
    """
    z = as_row(logits, labels)
    words = with_words(WORDS, words)
    k = len(z) if top_k is None else top_k
    if not (0.1 <= temperature <= 3 and 1 <= k <= len(z) and 0.05 <= top_p <= 1):
        raise ValueError(
            f"temperature must be 0.1 to 3, top_k 1 to {len(z)}, top_p 0.05 to 1; got {temperature}, {k}, {top_p}"
        )
    state = {"logits": z, "labels": list(labels), "temperature": temperature, "top_k": k, "top_p": top_p}
    state |= {"start": z, "drawn": None, "words": words}
    controls = {
        "temperature": slider(words["temperature"], float(temperature), 0.1, 3.0, 0.05),
        "top_k": slider(words["top_k"], k, 1, len(z), 1),
        "top_p": slider(words["top_p"], float(top_p), 0.05, 1.0, 0.05),
    }
    return figure("probabilities", state, controls, said(state))
