"""Chapter 5: from logits to probabilities, and which tokens may be drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import lmhead
from lmhead._arguments import Array, as_logits, reject_bad_rows
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
            "Each row has its own sum, over the last axis: axis=-1, keepdims=True.",
            [(draw(1, 2, 3),), (draw(2, 3, 2),), (draw(3, 2, 2, 3),)],
        ),
        Kind(
            "as many rows as tokens",
            "In a square array every axis fits. The vocabulary is the last one: axis=-1, keepdims=True.",
            [(draw(4, 3, 3),)],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Subtract the row's maximum first: the probabilities stay the same.",
            [(np.array([1000.0, 999.0, 998.0]),), (np.array([-1000.0, -999.0, -1000.5]),)],
        ),
        Kind(
            "rows far apart",
            "Subtract each row's own maximum, else a row far below another underflows to 0 / 0.",
            [(np.array([[1000.0, 999.0], [-1000.0, -1002.0]]),)],
        ),
        Kind(
            "a token masked with -inf",
            "A logit of -inf is a legal mask: that token gets probability 0, the others share 1.",
            [(np.array([2.0, -np.inf, 1.0]),)],
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
    Not yet: NaN, large logits (case 7 of 10).
      input     z = [1000.0, 999.0, 998.0]
      got       [nan, nan, nan]
      expected  [0.6652, 0.2447, 0.09]
      Looks like: exp(z) overflows, or underflows to 0 / 0. Subtract the row's maximum first: the
      same p, and no overflow.
    >>> def stable(z):
    ...     e = np.exp(z - z.max(axis=-1, keepdims=True))
    ...     return e / e.sum(axis=-1, keepdims=True)
    >>> softmax(stable)
    Right: all 10 cases pass.
    """
    run(yours, SOFTMAX)


def _order_and_count(z: Array, p: float) -> tuple[Array, int]:
    """Ids from the most likely on, and how many of them the smallest set that holds p has."""
    order = np.argsort(-z)
    return order, int(np.searchsorted(np.cumsum(lmhead.softmax(z)[order]), p)) + 1


def _keep(z: Array, ids: Array, cut: float = -np.inf) -> Array:
    kept = np.full(z.shape, cut)
    kept[ids] = z[ids]
    return kept


def _top_p_plus(z: Array, p: float, more: int) -> Array:
    order, count = _order_and_count(z, p)
    return _keep(z, order[: count + more])


def _least_likely(z: Array, p: float) -> Array:
    order = np.argsort(z)
    return _keep(z, order[: np.searchsorted(np.cumsum(lmhead.softmax(z)[order]), p) + 1])


def _without_softmax(z: Array, p: float) -> Array:
    order = np.argsort(-z)
    before = np.cumsum(z[order]) - z[order]
    return _keep(z, order[before < p])


def _in_order_of_ids(z: Array, p: float) -> Array:
    probabilities = lmhead.softmax(z)
    return np.where(np.cumsum(probabilities) - probabilities < p, z, -np.inf)


def _in_sorted_order(z: Array, p: float) -> Array:
    order, count = _order_and_count(z, p)
    return np.where(np.arange(z.size) < count, z[order], -np.inf)


_ROWS = [np.array([0.1, 2.0, 1.0]), np.array([0.5, -1.0, 1.5, 1.0]), np.array([-2.0, -0.5, -1.0, -3.0, -0.8])]

TOP_P = Exercise(
    right=lambda z, p: lmhead.top_p(z, p),
    kinds=[
        Kind(
            "a p inside the row",
            "Sort by probability, add up from the most likely on, and keep tokens until the sum reaches p.",
            [(z, p) for z in _ROWS for p in (0.7, 0.9)],
        ),
        Kind(
            "a small p",
            "The most likely token always stays, even if it alone passes p.",
            [(_ROWS[0], 0.1), (_ROWS[2], 0.05)],
        ),
        Kind("p = 1", "p = 1 cuts nothing, however unlikely.", [(_ROWS[1], 1.0), (np.array([-3.0, 9.0, 1.0]), 1.0)]),
        Kind(
            "a token masked before",
            "A token at -inf has probability 0. It stays masked, and the others keep their logits.",
            [(np.array([1.0, -np.inf, 2.0, 0.5]), 0.8)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda z, p: _top_p_plus(z, p, -1),
            "You drop the token that crosses p. It stays: only with it does the set hold p.",
        ),
        Mistake(
            lambda z, p: _top_p_plus(z, p, +1),
            "You keep one token too many. The last to stay is the one with which the sum reaches p.",
        ),
        Mistake(_least_likely, "You sort upwards and keep the least likely tokens. Start at the most likely one."),
        Mistake(
            lambda z, p: np.where(lmhead.softmax(z) >= p, z, -np.inf),
            "You compare each probability with p. It is their running sum, from the most likely on, that counts.",
        ),
        Mistake(
            lambda z, p: np.where(lmhead.softmax(z) >= 1 - p, z, -np.inf),
            "You compare each probability with 1 - p. It is their running sum that counts.",
        ),
        Mistake(_without_softmax, "You add up logits. p is a probability: softmax first."),
        Mistake(
            _in_order_of_ids, "You add up in the order of the ids. Sort by probability first, the highest in front."
        ),
        Mistake(
            _in_sorted_order,
            "Your result is in sorted order. Put every logit back at its own id.",
        ),
        Mistake(
            lambda z, p: np.where(np.isfinite(lmhead.top_p(z, p)), z, 0.0),
            "You cut with 0. A logit of 0 is an ordinary score: only -inf gets probability 0.",
        ),
        Mistake(
            lambda z, p: lmhead.softmax(lmhead.top_p(z, p)),
            "You return probabilities. Asked are the logits, with the cut tokens at -inf.",
        ),
        Mistake(
            lambda z, p: z[np.isfinite(lmhead.top_p(z, p))],
            "You return the kept tokens alone. Keep the row's length, so that an index is still a token id.",
        ),
    ],
)


def top_p(yours: Function) -> None:
    """Chapter 5, `top_p(z, p) -> logits`: all but the smallest set of most likely tokens that holds p, cut to -inf.

    z is one row `[vocab]`, p above 0 and at most 1. The token that crosses p stays; the result has the shape of z.

    >>> def drops_the_crossing_token(z, p):
    ...     order = np.argsort(-z)
    ...     cut = np.cumsum(lmhead.softmax(z)[order]) > p
    ...     masked = z.copy()
    ...     masked[order[cut]] = -np.inf
    ...     return masked
    >>> top_p(drops_the_crossing_token)
    Not yet: a p inside the row (case 1 of 11).
      input     z = [0.1, 2.0, 1.0], p = 0.7
      got       [-inf, 2.0, -inf]
      expected  [-inf, 2.0, 1.0]
      Looks like: You drop the token that crosses p. It stays: only with it does the set hold p.
    >>> def keeps_it(z, p):
    ...     order = np.argsort(-z)
    ...     ranked = lmhead.softmax(z)[order]
    ...     masked = z.copy()
    ...     masked[order[np.cumsum(ranked) - ranked >= p]] = -np.inf
    ...     return masked
    >>> top_p(keeps_it)
    Right: all 11 cases pass.
    """
    run(yours, TOP_P)


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
