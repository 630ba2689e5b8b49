"""Chapter 9: one step of training, and what is wrong with a run, from its curve alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run


def _step(W_U: Array, counts: Array, rate: float) -> Array:
    expected = counts.sum(axis=1, keepdims=True) * lmhead.softmax(W_U)
    return np.asarray(W_U - rate * (expected - counts) / counts.sum())


def _counts(seed: int, vocab: int) -> Array:
    """Counts of pairs: every token is read at least once, the rows differ in their sums, the table is not symmetric."""
    return np.random.default_rng(seed).integers(0, 6, size=(vocab, vocab)) + np.eye(vocab, k=1) + np.eye(vocab, k=-2)


TRAIN_STEP = Exercise(
    right=_step,
    kinds=[
        Kind(
            "from zero",
            "At the start every p is 1 / V. Expected counts minus counts, over the number of pairs, times the rate.",
            [(np.zeros((3, 3)), _counts(1, 3), 1.0), (np.zeros((4, 4)), _counts(2, 4), 10.0)],
        ),
        Kind(
            "further on",
            "Each row of W_U has its own softmax, over the last axis: row i is what follows token i.",
            [(draw(3, 3, 3), _counts(3, 3), 2.0), (draw(4, 5, 5), _counts(4, 5), 0.5)],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Subtract each row's maximum first.",
            [(draw(5, 3, 3) + 1000.0, _counts(5, 3), 2.0), (draw(6, 3, 3) - 900.0, _counts(6, 3), 2.0)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda W_U, counts, rate: 2 * W_U - _step(W_U, counts, rate),
            "The sign: a step goes against the gradient, so subtract expected minus seen.",
        ),
        Mistake(
            lambda W_U, counts, rate: W_U + (_step(W_U, counts, rate) - W_U) * counts.sum(),
            "Divide by the number of all pairs, counts.sum(): the loss is a mean over them.",
        ),
        Mistake(
            lambda W_U, counts, rate: W_U - rate * (lmhead.softmax(W_U) - counts / counts.sum(axis=1, keepdims=True)),
            "You weigh every row alike. A row counts as often as its token was read: n * p - counts, over all pairs.",
        ),
        Mistake(
            lambda W_U, counts, rate: (
                W_U
                - rate
                * (lmhead.softmax(W_U) - counts / counts.sum(axis=1, keepdims=True))
                / len(counts)
            ),
            "You average over the rows. Average over the pairs: a row counts as often as its token was read.",
        ),
        Mistake(
            lambda W_U, counts, rate: _step(W_U.T, counts.T, rate).T,
            "Row i is what follows token i: sums and softmax go along each row, axis=1.",
        ),
        Mistake(
            lambda W_U, counts, rate: _step(W_U, counts.T, rate),
            "counts[i, j] is how often j followed i. You use it transposed.",
        ),
        Mistake(
            lambda W_U, counts, rate: W_U - rate * (counts.sum(axis=0) * lmhead.softmax(W_U) - counts) / counts.sum(),
            "Multiply row i by how often i was *read*, the sum of its row: counts.sum(axis=1, keepdims=True).",
        ),
        Mistake(
            lambda W_U, counts, rate: W_U - _step(W_U, counts, rate),
            "You return the step alone. Return the head after it.",
        ),
        Mistake(
            lambda W_U, counts, rate: _step(W_U, counts, 1.0),
            "You leave the rate out.",
        ),
        Mistake(
            lambda W_U, counts, rate: _naive_step(W_U, counts, rate),
            "exp of a large logit overflows. Subtract each row's maximum first.",
        ),
    ],
)


def _naive_step(W_U: Array, counts: Array, rate: float) -> Array:
    p = np.exp(W_U) / np.exp(W_U).sum(axis=1, keepdims=True)
    return np.asarray(W_U - rate * (counts.sum(axis=1, keepdims=True) * p - counts) / counts.sum())


def train_step(yours: Function) -> None:
    r"""Chapter 9, `train_step(W_U, counts, rate) -> W_U`: the bigram head after one step of gradient descent.

    With n the row sums of counts and N their total, that is $W_U - \mathrm{rate}\,(n\,p - \mathrm{counts}) / N$. W_U and
    counts are `[V, V]`, row i being what follows token i.

    >>> def turned(W_U, counts, rate):
    ...     p = lmhead.softmax(W_U)
    ...     return W_U + rate * (counts.sum(axis=1, keepdims=True) * p - counts) / counts.sum()
    >>> train_step(turned)
    Not yet: from zero (case 1 of 6).
      input     W_U = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    run(yours, TRAIN_STEP)


NAMES = ("right", "no shift", "double shift", "large weights", "high rate")


def _pairs(text: Array, distance: int, vocab: int) -> Array:
    table = np.zeros((vocab, vocab))
    np.add.at(table, (text[: len(text) - distance], text[distance:]), 1)
    return table


def _entropy(counts: Array) -> float:
    seen = counts > 0
    return float(-(counts * np.log(counts / counts.sum(axis=1, keepdims=True), where=seen, out=np.zeros_like(counts))).sum() / counts.sum())


def _run(seed: int, fault: str, vocab: int) -> tuple[Array, float, float]:
    """A curve with this fault: 120 steps on a random text, its floor, and log V."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(vocab, 0.25), size=vocab)
    text = [0]
    for _ in range(4000):
        text.append(int(rng.choice(vocab, p=chances[text[-1]])))
    ids = np.array(text)
    right = _pairs(ids, 1, vocab)
    counts = _pairs(ids, {"no shift": 0, "double shift": 2}.get(fault, 1), vocab)
    W_U = rng.normal(size=(vocab, vocab)) * (4.0 if fault == "large weights" else 0.01)
    share = counts.sum(axis=1).max() / counts.sum()
    rate = (14.0 if fault == "high rate" else 1.5) / share
    losses = []
    for _ in range(121):
        log_p = lmhead.log_softmax(W_U)
        losses.append(-(counts * log_p).sum() / counts.sum())
        W_U = _step(W_U, counts, rate)
    return np.array(losses), _entropy(right), float(np.log(vocab))
