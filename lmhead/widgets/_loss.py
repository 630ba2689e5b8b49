"""What a guess costs: -log p of the target as a curve with the moving point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead.loss import cross_entropy, perplexity
from lmhead.probabilities import softmax
from lmhead.widgets._view import Figure, Part, State, as_row, as_token, figure, menu, named, table, terms, with_words
from lmhead.widgets._write import decimals, short

WORDS = {
    "caption": "From logits to the loss of one target",
    "target": "target",
    "token": "token",
    "logit": "logit",
    "p": "probability",
    "nats": "nats",
    "bits": "bits",
    "perplexity": "perplexity",
    "picture": "The curve of -log p, with a point at the target's probability",
    "x_axis": "p of the target",
    "y_axis": "-log p (nats)",
    "said": "p of {token} {p}, loss {loss} nats",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: every `p`, and the target's `loss` in nats, in `bits`, and as a `perplexity`."""
    logits = np.asarray(state["logits"], np.float64)
    loss = float(cross_entropy(logits, state["target"]))
    return {
        "p": softmax(logits).tolist(),
        "loss": loss,
        "bits": loss / float(np.log(2)),
        "perplexity": float(perplexity(loss)),
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown = state["words"], numbers(state)
    rows = [
        [named(label, words["target"] if j == state["target"] else ""), short(z), decimals(p)]
        for j, (label, z, p) in enumerate(zip(state["labels"], state["logits"], shown["p"], strict=True))
    ]
    costs = [(words["nats"], shown["loss"]), (words["bits"], shown["bits"]), (words["perplexity"], shown["perplexity"])]
    return [
        table(words["caption"], [words["token"], words["logit"], words["p"]], rows),
        terms(*((term, decimals(x)) for term, x in costs)),
    ]


def loss(
    logits: ArrayLike = (2.0, 1.0, 0.1),
    labels: Sequence[str] = ("cat", "dog", "fish"),
    *,
    target: int = 0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """The curve -log p with a point at the target's probability; sliders set the logits, a menu the target.

    Args:
      logits: `[vocab]`, 2 to 12 tokens.
      labels: the tokens' texts.
      target: the id of the right answer.
      words: replacements for words on the screen.

    Raises:
      ValueError: logits and labels that do not fit.  IndexError: a target that is none of the tokens.
    """
    z = as_row(logits, labels)
    words = with_words(WORDS, words)
    state = {"logits": z, "labels": list(labels), "target": as_token(target, labels, "target")}
    state |= {"start": z, "words": words}
    controls = {"target": menu(words["target"], labels, target)}
    return figure("loss", state, controls, said(state))
