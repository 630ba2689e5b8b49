"""Chapter 9: one step of training, and what is wrong with a run, from its curve alone."""

from __future__ import annotations

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
            "a step",
            "Expected counts minus counts, over the number of pairs, times the rate; each row has its own softmax.",
            [
                (np.zeros((3, 3)), _counts(1, 3), 1.0),
                (np.zeros((4, 4)), _counts(2, 4), 10.0),
                (draw(3, 3, 3), _counts(3, 3), 2.0),
                (draw(4, 5, 5), _counts(4, 5), 0.5),
            ],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Subtract each row's maximum first.",
            [(draw(5, 3, 3) + 1000.0, _counts(5, 3), 1.0), (draw(6, 3, 3) - 900.0, _counts(6, 3), 1.0)],
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
                W_U - rate * (lmhead.softmax(W_U) - counts / counts.sum(axis=1, keepdims=True)) / len(counts)
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

    With n the row sums of counts and N their total, that is $W_U - \mathrm{rate}\,(n\,p - \mathrm{counts}) / N$.
    W_U and counts are `[V, V]`, row i being what follows token i.

    >>> def turned(W_U, counts, rate):
    ...     p = lmhead.softmax(W_U)
    ...     return W_U + rate * (counts.sum(axis=1, keepdims=True) * p - counts) / counts.sum()
    >>> train_step(turned)
    Not yet: a step (case 1 of 6).
      input     W_U = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
                counts = [[2.0, 4.0, 4.0], [5.0, 0.0, 1.0], [5.0, 5.0, 1.0]]
                rate = 1.0
      got       [[0.0494, -0.0247, -0.0247], [-0.1111, 0.0741, 0.037], [-0.0494, -0.0494, 0.0988]]
      expected  [[-0.0494, 0.0247, 0.0247], [0.1111, -0.0741, -0.037], [0.0494, 0.0494, -0.0988]]
      Looks like: The sign: a step goes against the gradient, so subtract expected minus seen.
    >>> def subtracted(W_U, counts, rate):
    ...     p = lmhead.softmax(W_U)
    ...     return W_U - rate * (counts.sum(axis=1, keepdims=True) * p - counts) / counts.sum()
    >>> train_step(subtracted)
    Right: all 6 cases pass.
    """
    run(yours, TRAIN_STEP)


RIGHT, NO_SHIFT, DOUBLE_SHIFT, LARGE_WEIGHTS, HIGH_RATE = range(5)
STEPS = 80


def _curve(seed: int, fault: int, vocab: int) -> tuple[Array, float, float]:
    """A run of a bigram head with this fault, on a random text of that many tokens: its losses, the floor, log V."""
    rng = np.random.default_rng(seed)
    follows = rng.dirichlet(np.full(vocab, 0.3), size=vocab) + 0.01
    follows /= follows.sum(axis=1, keepdims=True)
    read = np.linalg.matrix_power(follows, 500)[0]  # how often each token is read in a long text
    distance = {NO_SHIFT: 0, DOUBLE_SHIFT: 2}.get(fault, 1)
    counts = read[:, None] * np.linalg.matrix_power(follows, distance)
    W_U = rng.normal(size=(vocab, vocab)) * (4.0 if fault == LARGE_WEIGHTS else 0.01)
    losses = []
    for _ in range(STEPS + 1):
        losses.append(float(-(counts * lmhead.log_softmax(W_U)).sum()))
        W_U = _step(W_U, counts, (14.0 if fault == HIGH_RATE else 1.5) / read.max())
    floor = -(read[:, None] * follows * np.log(follows)).sum()
    return np.array(losses), float(floor), float(np.log(vocab))


def _fault(losses: Array, floor: float, start: float) -> int:
    if losses[0] > start + 0.1:
        return LARGE_WEIGHTS
    if (np.diff(losses) > 1e-3).any():
        return HIGH_RATE
    if losses[-1] < floor - 0.01:
        return NO_SHIFT
    return DOUBLE_SHIFT if losses[-1] > floor + 0.15 else RIGHT


NAME_FAULT = Exercise(
    right=_fault,
    kinds=[
        Kind(
            "a right run",
            "It starts at log V, falls at every step, and ends a little above the floor: 0.",
            [_curve(1, RIGHT, 12), _curve(2, RIGHT, 20)],
        ),
        Kind(
            "no shift",
            "It ends below the floor, which no guess about the next token can: 1.",
            [_curve(3, NO_SHIFT, 12), _curve(4, NO_SHIFT, 20)],
        ),
        Kind(
            "a double shift",
            "It falls smoothly, and stays well above the floor: 2.",
            [_curve(5, DOUBLE_SHIFT, 12), _curve(6, DOUBLE_SHIFT, 20)],
        ),
        Kind(
            "large weights",
            "It starts above log V: 3.",
            [_curve(7, LARGE_WEIGHTS, 12), _curve(8, LARGE_WEIGHTS, 20)],
        ),
        Kind(
            "a high rate",
            "It rises at some steps: 4.",
            [_curve(9, HIGH_RATE, 12), _curve(10, HIGH_RATE, 20)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda losses, floor, start: 3 if losses[0] > floor + 0.1 else _fault(losses, floor, start),
            "Every run starts above the floor. Large weights start above log V, which is `start`.",
        ),
        Mistake(
            lambda losses, floor, start: 1 if losses[-1] > start - 0.1 else 2 if losses[-1] > floor + 0.15 else 0,
            "You look for a missing shift near log V. Trained without it, a head copies: it ends below the floor.",
        ),
        Mistake(
            lambda losses, floor, start: 1 if losses[-1] < floor - 0.01 else 2 if losses[-1] > floor + 0.15 else 0,
            "You look at the end alone. Large weights show at the first step, a high rate on the way.",
        ),
        Mistake(
            lambda losses, floor, start: 4 if losses[-1] > losses[0] else _fault(np.sort(losses)[::-1], floor, start),
            "You compare the ends. With a high rate the loss rises at single steps: look at np.diff.",
        ),
        Mistake(
            lambda losses, floor, start: {1: 2, 2: 1}.get(_fault(losses, floor, start), _fault(losses, floor, start)),
            "You exchange the two shifts. Below the floor is the missing one (1), above it the double one (2).",
        ),
        Mistake(
            lambda losses, floor, start: 0 if _fault(losses, floor, start) == 2 else _fault(losses, floor, start),
            "You take a double shift for a right run. The right one ends within 0.15 of the floor.",
        ),
        Mistake(
            lambda losses, floor, start: 3 if losses[0] > start else _fault(losses, floor, start),
            "Small random weights start a hair above log V. Leave some room, 0.1 say.",
        ),
        Mistake(
            lambda losses, floor, start: (
                2
                if floor + 1e-3 < losses[-1] <= floor + 0.15 and not _fault(losses, floor, start)
                else _fault(losses, floor, start)
            ),
            "No run reaches its floor in so few steps. The right one ends within 0.15 of it.",
        ),
        Mistake(
            lambda losses, floor, start: 4 if losses[-1] > floor + 0.15 else _fault(losses, floor, start),
            "A loss that stays high is not a high rate: that one shows by rising.",
        ),
    ],
)


def name_fault(yours: Function) -> None:
    """Chapter 9, `name_fault(losses, floor, start) -> 0 to 4`: what is wrong with a run, from its curve alone.

    0 is a right run, 1 no shift, 2 a double shift, 3 too large first weights, 4 too high a rate. losses is an array,
    one for each step, floor the entropy of the right counted table, start log V. A right run ends within 0.15 of the
    floor.

    >>> def by_the_end(losses, floor, start):
    ...     return 1 if losses[-1] < floor - 0.01 else 2 if losses[-1] > floor + 0.15 else 0
    >>> name_fault(by_the_end)
    Not yet: large weights (case 7 of 10).
      input     losses = an array [81], floor = 1.8135, start = 2.4849
      got       0
      expected  3
      Looks like: You look at the end alone. Large weights show at the first step, a high rate on
      the way.
    >>> def all_the_way(losses, floor, start):
    ...     if losses[0] > start + 0.1:
    ...         return 3
    ...     return 4 if (np.diff(losses) > 0.001).any() else by_the_end(losses, floor, start)
    >>> name_fault(all_the_way)
    Right: all 10 cases pass.
    """
    run(yours, NAME_FAULT)
