"""A bigram head that learns: the loss step by step, a row of p beside the counted one, and what the head writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import as_floats
from lmhead.probabilities import log_softmax, softmax
from lmhead.widgets._view import (
    Figure,
    Part,
    State,
    as_token,
    figure,
    menu,
    slider,
    table,
    terms,
    with_words,
)
from lmhead.widgets._write import decimals

STEPS, SEEDS, LONGEST, SHOWN = 500, 10, 12, 8  # of the sliders; tokens in a sample; rows of the table

WORDS = {
    "caption": "A bigram head that learns: what comes next",
    "step": "step",
    "letter": "after",
    "seed": "seed",
    "token": "token",
    "p": "probability",
    "counted": "counted share",
    "loss": "loss (nats)",
    "floor": "floor (nats)",
    "wrote": "it writes",
    "picture": "The loss from the first step to this one, above a line at the floor",
    "said": "step {step}: loss {loss}, it writes {wrote}",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: the `losses` up to the step, the `floor`, and the `ids` of the letter's commonest followers.

    Also their `p`, their `counted` shares, and the ids of what the head `wrote` with the numbers of that seed.
    """
    counts = np.asarray(state["counts"], np.float64)
    n, total = counts.sum(axis=1, keepdims=True), counts.sum()
    W_U, losses = np.zeros(counts.shape), []
    for step in range(state["step"] + 1):
        if step:
            W_U = W_U - state["rate"] / total * (n * softmax(W_U) - counts)
        losses.append(float(-(counts * log_softmax(W_U)).sum() / total))
    p, shares = softmax(W_U), counts / n
    ids = np.argsort(-counts[state["letter"]], kind="stable")[:SHOWN]
    logs = np.log(shares, out=np.zeros(counts.shape), where=counts > 0)
    return {
        "losses": losses,
        "floor": float(-(counts * logs).sum() / total),
        "ids": ids.tolist(),
        "p": p[state["letter"], ids].tolist(),
        "counted": shares[state["letter"], ids].tolist(),
        "wrote": _written(p, state["draws"][state["seed"]]),
    }


def _written(p: np.ndarray, draws: Sequence[float]) -> list[int]:
    """Token after token by inverse CDF, from token 0 on until it comes again."""
    wrote: list[int] = []
    for u in draws:
        row = p[wrote[-1] if wrote else 0]
        token = min(int((np.cumsum(row) <= u * row.sum()).sum()), len(row) - 1)
        if token == 0:
            break
        wrote.append(token)
    return wrote


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, labels, shown = state["words"], state["labels"], numbers(state)
    rows = [
        [labels[j], decimals(p), decimals(share)]
        for j, p, share in zip(shown["ids"], shown["p"], shown["counted"], strict=True)
    ]
    return [
        table(words["caption"], [words["token"], words["p"], words["counted"]], rows),
        terms(
            (words["loss"], decimals(shown["losses"][-1])),
            (words["floor"], decimals(shown["floor"])),
            (words["wrote"], "".join(labels[j] for j in shown["wrote"]) or labels[0]),
        ),
    ]


def training(
    counts: ArrayLike,
    labels: Sequence[str],
    *,
    rate: float = 50.0,
    step: int = 0,
    letter: int = 0,
    seed: int = 0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """A bigram head, trained in the browser from 0 by `W_U <- W_U - rate (n p - counts) / N`: a slider walks the steps.

    Args:
      counts: `[vocab, vocab]`, how often each token followed each; token 0 begins and ends what the head writes.
      labels: the tokens' texts.
      rate: the learning rate.
      step: where the slider stands, from 0 to 500.
      letter: the token whose eight commonest followers are shown.
      seed: of what the head writes, from 0 to 9.
      words: replacements for words on the screen.

    Raises:
      ValueError: counts that are not one row and one column for each of 2 to 40 labels, that are negative, or have a
        row of zeros; a rate that is not above 0; a step or a seed outside its slider.
      IndexError: a letter that is none of the tokens.
    """
    table_ = as_floats(counts, "counts")
    if not 2 <= len(labels) <= 40 or table_.shape != (len(labels), len(labels)):
        raise ValueError(
            f"counts must be [vocab, vocab] for 2 to 40 labels; got {table_.shape} and {len(labels)} labels"
        )
    if not (table_ >= 0).all() or not table_.sum(axis=1).all():
        raise ValueError("counts must not be below 0, and every token must be followed by one at least once")
    if not (0 < rate < float("inf") and 0 <= step <= STEPS and 0 <= seed < SEEDS):
        raise ValueError(
            f"rate must be above 0, step 0 to {STEPS}, seed 0 to {SEEDS - 1}; got {rate}, {step} and {seed}"
        )
    words = with_words(WORDS, words)
    draws = np.random.default_rng(0).random((SEEDS, LONGEST)).round(6).tolist()
    state = {"counts": table_.tolist(), "labels": list(labels), "rate": float(rate), "draws": draws, "words": words}
    state |= {"step": step, "letter": as_token(letter, labels, "letter"), "seed": seed}
    controls = {
        "step": slider(words["step"], step, 0, STEPS, 1),
        "letter": menu(words["letter"], labels, letter),
        "seed": slider(words["seed"], seed, 0, SEEDS - 1, 1),
    }
    return figure("training", state, controls, said(state), ("arithmetic", "scene"))
