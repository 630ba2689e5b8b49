"""Chapter 5: from logits to probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import lmhead
from lmhead._arguments import as_logits, reject_bad_rows
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run

SOFTMAX = Exercise(
    right=lambda z: lmhead.softmax(z),
    kinds=[
        Kind(
            "one row",
            "Exponentials of the logits, divided by their sum.",
            [(np.array([2.0, 1.0, 0.1]),), (np.array([-1.0, 0.0, 2.0, 0.5]),)],
        ),
        Kind(
            "several rows",
            "Each row has its own sum, over the last axis, however many axes there are: axis=-1, keepdims=True.",
            [(draw(1, 2, 3),), (draw(2, 3, 2),), (draw(4, 3, 3),), (draw(3, 2, 2, 3),)],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78, and far below 0 it underflows to 0 / 0. Subtract each row's own maximum.",
            [(np.array([[1000.0, 999.0, 998.0]]),), (np.array([[1000.0, 999.0], [-1000.0, -1002.0]]),)],
        ),
        Kind(
            "a token masked with -inf",
            "A logit of -inf is a legal mask: that token gets probability 0, the others share 1.",
            [(np.array([[2.0, -np.inf, 1.0], [0.5, 1.0, -0.5]]),)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True),
            "exp(z) overflows, or underflows to 0 / 0. Subtract the row's maximum first: the same p, and no overflow.",
        ),
        Mistake(
            lambda z: np.exp(z - z.max(axis=0)) / np.exp(z - z.max(axis=0)).sum(axis=0),
            "You sum over axis 0, the positions. The vocabulary is the last axis: axis=-1.",
        ),
        Mistake(
            lambda z: np.exp(z - z.max()) / np.exp(z - z.max()).sum(),
            "You divide by the sum of the whole array. Each row must sum to 1: axis=-1, keepdims=True.",
        ),
        Mistake(
            lambda z: np.exp(z - z.max()) / np.exp(z - z.max()).sum(axis=-1, keepdims=True),
            "You subtract the maximum of the whole array. Rows far below it underflow: take each row's own.",
        ),
        Mistake(
            lambda z: np.exp(z - z.max(axis=-1)) / np.exp(z - z.max(axis=-1)).sum(axis=-1),
            "Without keepdims=True a row's maximum and sum meet the wrong axis.",
        ),
        Mistake(
            lambda z: z / z.sum(axis=-1, keepdims=True),
            "You divide the logits themselves. Take their exponentials first: these are positive.",
        ),
        Mistake(
            lambda z: np.exp(z - z.max(axis=-1, keepdims=True)),
            "You do not divide by the sum. Each row must sum to 1.",
        ),
        Mistake(
            lambda z: (
                np.exp2(z - z.max(-1, keepdims=True)) / np.exp2(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True)
            ),
            "You use powers of 2. softmax uses powers of e: np.exp.",
        ),
        Mistake(lambda z: lmhead.log_softmax(z), "You return log-probabilities. Leave out the last logarithm."),
        Mistake(lambda z: lmhead.softmax(-z), "You lost a sign: the highest logit must get the highest probability."),
        Mistake(
            lambda z: 1 / (1 + np.exp(-z)),
            "You apply a sigmoid to each logit. softmax is one operation over the row: all share one sum.",
        ),
        Mistake(
            lambda z: np.exp(np.clip(z, -700, 700)) / np.exp(np.clip(z, -700, 700)).sum(axis=-1, keepdims=True),
            "Clipping the logits makes different tokens equal. Subtract the row's maximum: that changes no p.",
        ),
    ],
)


def softmax(yours: Function) -> None:
    r"""Chapter 5, `softmax(z) -> p`: probabilities over the last axis, $e^{z_j} / \sum_i e^{z_i}$, without overflow.

    z is `[..., vocab]` of any leading shape, p has the shape of z. A logit of -inf gets probability 0.

    >>> softmax(lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))
    Not yet: NaN, large logits (case 7 of 9).
      input     z = [[1000.0, 999.0, 998.0]]
      got       [[nan, nan, nan]]
      expected  [[0.6652, 0.2447, 0.09]]
      Looks like: exp(z) overflows, or underflows to 0 / 0. Subtract the row's maximum first: the
      same p, and no overflow.
    >>> def stable(z):
    ...     e = np.exp(z - z.max(axis=-1, keepdims=True))
    ...     return e / e.sum(axis=-1, keepdims=True)
    >>> softmax(stable)
    Right: all 9 cases pass.
    """
    run(yours, SOFTMAX)


def logits_not_probabilities(x: ArrayLike) -> None:
    """Print a warning if x looks like probabilities that are about to be passed as logits, else one line that says so.

    Probabilities are legal logits, so no function can refuse them; softmax of them is nearly uniform, and wrong.

    Args:
      x: `[..., vocab]`. The warning comes if every row lies within [0, 1] and sums to 1 (to 3 decimals).

    Raises:
      TypeError, ValueError: as `lmhead.softmax`, for an x that has no probabilities; an x without a row.

    >>> logits_not_probabilities([0.659, 0.242, 0.099])
    Warning: every row lies in [0, 1] and sums to 1. These look like probabilities: pass the logits, before softmax.
    >>> logits_not_probabilities([2.0, 1.0, 0.1])
    These look like logits: one of them is 2, outside [0, 1].
    """
    array = as_logits(x)
    rows = array.reshape(-1, array.shape[-1]).astype(np.float64)
    reject_bad_rows(rows, array.shape[:-1])
    if not rows.size:
        raise ValueError(f"x must have at least one row; got shape {array.shape}")
    outside = rows[(rows < 0) | (rows > 1)]
    sums = rows.sum(axis=1)
    off = sums[~np.isclose(sums, 1.0, rtol=0, atol=1e-3)]
    if outside.size:
        print(f"These look like logits: one of them is {outside[0]:.4g}, outside [0, 1].")
    elif off.size:
        print(f"These look like logits: a row sums to {off[0]:.4g}, probabilities would sum to 1.")
    else:
        print(
            "Warning: every row lies in [0, 1] and sums to 1. "
            "These look like probabilities: pass the logits, before softmax."
        )
