"""What the loss pushes: p - onehot as arrows, and what one step on the logits does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead.loss import cross_entropy, cross_entropy_grad
from lmhead.probabilities import softmax
from lmhead.widgets._view import (
    Figure,
    Part,
    State,
    as_row,
    as_token,
    figure,
    menu,
    named,
    slider,
    table,
    terms,
    with_words,
)
from lmhead.widgets._write import decimals

WORDS = {
    "caption": "The gradient of the loss, and one step against it",
    "target": "target",
    "learning_rate": "learning rate",
    "token": "token",
    "logit": "logit",
    "p": "probability",
    "gradient": "p - onehot",
    "loss": "loss now (nats)",
    "next_loss": "after one more step",
    "steps": "steps",
    "step": "Step",
    "reset": "Reset",
    "said": "step {steps}: loss {loss} nats",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: `p`, the `gradient`, the `loss` now, and the logits and the loss after one more step."""
    logits = np.asarray(state["logits"], np.float64)
    gradient = cross_entropy_grad(logits, state["target"])
    stepped = logits - state["learning_rate"] * gradient
    return {
        "p": softmax(logits).tolist(),
        "gradient": gradient.tolist(),
        "loss": float(cross_entropy(logits, state["target"])),
        "next_logits": stepped.tolist(),
        "next_loss": float(cross_entropy(stepped, state["target"])),
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown = state["words"], numbers(state)
    columns = zip(state["labels"], state["logits"], shown["p"], shown["gradient"], strict=True)
    rows = [
        [named(label, words["target"] if j == state["target"] else ""), *map(decimals, row)]
        for j, (label, *row) in enumerate(columns)
    ]
    return [
        table(words["caption"], [words[key] for key in ("token", "logit", "p", "gradient")], rows),
        terms(
            (words["loss"], decimals(shown["loss"])),
            (words["next_loss"], decimals(shown["next_loss"])),
            (words["steps"], str(state["steps"])),
        ),
    ]


def gradient_step(
    logits: ArrayLike = (2.0, 1.0, 0.1),
    labels: Sequence[str] = ("cat", "dog", "fish"),
    *,
    target: int = 2,
    learning_rate: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Bars of p with the gradient p - onehot as arrows; a button takes a step `z <- z - lr (p - onehot)`.

    Args:
      logits: `[vocab]`, 2 to 12 tokens: where Reset goes back to.
      labels: the tokens' texts.
      target: the id of the right answer.
      learning_rate: from 0.1 to 5.
      words: replacements for words on the screen.

    Raises:
      ValueError: logits and labels that do not fit, a learning rate outside its slider.
      IndexError: a target that is none of the tokens.
    """
    z = as_row(logits, labels)
    if not 0.1 <= learning_rate <= 5:
        raise ValueError(f"learning_rate must be 0.1 to 5; got {learning_rate}")
    words = with_words(WORDS, words)
    state = {"logits": z, "labels": list(labels), "target": as_token(target, labels, "target")}
    state |= {"learning_rate": float(learning_rate), "start": z, "steps": 0, "words": words}
    controls = {
        "target": menu(words["target"], labels, target),
        "learning_rate": slider(words["learning_rate"], float(learning_rate), 0.1, 5.0, 0.1),
    }
    return figure("gradient_step", state, controls, said(state))
