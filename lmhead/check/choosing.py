"""Chapters 5 and 11: the draw itself, which tokens may be drawn, and what a token written already is charged."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run


def _piece(p: Array, u: float) -> int:
    """The token on whose piece u falls, its piece being [the sum before it, the sum up to it).

    u is measured in the last sum, which rounding may leave just below 1: else a u above it had no token.
    """
    ends = np.cumsum(p)
    return int((ends <= ends[-1] * u).sum())


_BETS = np.array([0.1, 0.05, 0.6, 0.25])

INVERSE_CDF = Exercise(
    right=lambda p, u: _piece(p, u),
    kinds=[
        Kind(
            "inside a piece",
            "Lay the pieces end to end, in the order of the ids: the running sum says where each ends.",
            [(_BETS, u) for u in (0.72, 0.05, 0.12, 0.22, 0.9)] + [(np.array([0.5, 0.2, 0.3]), 0.6)],
        ),
        Kind(
            "on an end",
            "A piece holds its first point and not its last: u = 0.5 lies on the piece that begins at 0.5.",
            [(np.array([0.5, 0.25, 0.25]), 0.5), (np.array([0.5, 0.25, 0.25]), 0.75), (np.array([0.5, 0.0, 0.5]), 0.5)],
        ),
        Kind(
            "u = 0, and a token with probability 0",
            "Its piece is empty: not even a u on its end may draw it.",
            [(np.array([0.0, 0.5, 0.5]), 0.0), (np.array([0.0, 0.0, 1.0]), 0.0)],
        ),
        Kind(
            "u just below 1",
            "Ten times 0.1 sums to just below 1 here, and u lies above it. Compare the ends with u times the last one.",
            [(np.full(10, 0.1), np.nextafter(1, 0))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda p, u: int((np.cumsum(p) < u).sum()),
            "You give a u on an end to the piece that ends there, and u = 0 to a token of probability 0: use <=.",
        ),
        Mistake(lambda p, u: int(p.argmax()), "You take the largest, which is greedy. The random number has no say."),
        Mistake(
            lambda p, u: int(np.argsort(-p, kind="stable")[_piece(np.sort(p)[::-1], u)]),
            "You sort the pieces by size. That is a draw with the same probabilities, but of another token for this u.",
        ),
        Mistake(
            lambda p, u: _piece(np.sort(p)[::-1], u),
            "You return the rank of the token. Asked is its id, its place in the row as it was given.",
        ),
        Mistake(
            lambda p, u: int((p <= u).sum()),
            "You compare u with each probability. It is their running sum that says where the pieces end.",
        ),
        Mistake(
            lambda p, u: _piece(p, u) + 1,
            "You count from 1. Ids start at 0: as many pieces as end at or before u lie before the one that you want.",
        ),
        Mistake(
            lambda p, u: int(np.abs(np.cumsum(p) - u).argmin()),
            "You take the end that is nearest to u. Take the first one that lies beyond u.",
        ),
        Mistake(
            lambda p, u: _piece(lmhead.softmax(p), u),
            "You take a softmax of what is a probability already. The rows here are p, not logits.",
        ),
        Mistake(
            lambda p, u: _piece(p[::-1], u),
            "You lay the pieces from the last token on. Begin with id 0.",
        ),
        Mistake(
            lambda p, u: float(np.cumsum(p)[_piece(p, u)]),
            "You return where the piece ends. Asked is the id of its token.",
        ),
        Mistake(
            lambda p, u: int(u * len(p)),
            "You cut the line into equal pieces. A token's piece is as long as its probability.",
        ),
    ],
)


def inverse_cdf(yours: Function) -> None:
    """Chapter 5, `draw(p, u) -> id`: the token on whose piece u falls when the probabilities lie end to end.

    p is one row of probabilities `[vocab]`, u a number from 0 up to but not including 1. The piece of token j runs from
    the sum of all p before it, which belongs to it, to the sum that includes p[j], which does not. Where
    rounding leaves the sum of all p just below 1, a u above it still falls on the last piece.

    >>> inverse_cdf(lambda p, u: p.argmax())
    Not yet: inside a piece (case 2 of 12).
      input     p = [0.1, 0.05, 0.6, 0.25], u = 0.05
      got       2
      expected  0
      Looks like: You take the largest, which is greedy. The random number has no say.
    >>> inverse_cdf(lambda p, u: (np.cumsum(p) <= u * np.cumsum(p)[-1]).sum())
    Right: all 12 cases pass.
    """
    run(yours, INVERSE_CDF)


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
        Kind(
            "a sum that is p exactly",
            "The set holds p as soon as its sum reaches p; it need not exceed it.",
            [(np.log([4.0, 2.0, 1.0, 1.0]), 0.75), (np.log([1.0, 4.0, 1.0, 2.0]), 0.75)],
        ),
        Kind("p = 1", "p = 1 cuts nothing, however unlikely.", [(_ROWS[1], 1.0), (np.array([-3.0, 9.0, 1.0]), 1.0)]),
        Kind(
            "a token masked before",
            "A token at -inf has probability 0. It stays masked, and the others keep their logits.",
            [(np.array([1.0, -np.inf, 2.0, 0.5]), p) for p in (0.8, 1.0)],
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
        Mistake(
            lambda z, p: _keep(z, np.argsort(-z)[: int((np.cumsum(-np.sort(-lmhead.softmax(z))) <= p).sum()) + 1]),
            "You go on until the sum exceeds p. The set holds p as soon as its sum reaches p.",
        ),
    ],
)


def top_p(yours: Function) -> None:
    """Chapter 11, `top_p(z, p) -> logits`: all but the smallest set of most likely tokens that holds p, cut to -inf.

    z is one row `[vocab]`, p above 0 and at most 1. The token that crosses p stays; the result has the shape of z.

    >>> def drops_the_crossing_token(z, p):
    ...     order = np.argsort(-z)
    ...     cut = np.cumsum(lmhead.softmax(z)[order]) > p
    ...     masked = z.copy()
    ...     masked[order[cut]] = -np.inf
    ...     return masked
    >>> top_p(drops_the_crossing_token)
    Not yet: a p inside the row (case 1 of 14).
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
    Right: all 14 cases pass.
    """
    run(yours, TOP_P)


def _penalised(z: Array, ids: Array, penalty: float) -> Array:
    """The logits of all tokens in `ids` moved down: divided where positive, multiplied where negative."""
    out = np.array(z, float)
    seen = np.unique(ids)
    out[seen] = np.where(out[seen] > 0, out[seen] / penalty, out[seen] * penalty)
    return out


def _by_counts(z: Array, ids: Array, penalty: float) -> Array:
    for token in ids:
        z = _penalised(z, np.array([token]), penalty)
    return z


def _at(z: Array, ids: Array, change: Function) -> Array:
    out = np.array(z, float)
    out[np.unique(ids)] = change(out[np.unique(ids)])
    return out


_Z = np.array([2.0, -1.0, 0.5, 3.0, -0.25])

REPETITION_PENALTY = Exercise(
    right=lambda z, ids, penalty: _penalised(z, ids, penalty),
    kinds=[
        Kind(
            "positive logits",
            "A token that was written gets a smaller logit: where it is positive, divide it by the penalty.",
            [
                (_Z, np.array([0]), 1.5),
                (_Z, np.array([3, 2]), 2.0),
                (np.array([1.0, 4.0, 2.0]), np.array([2, 1]), 1.25),
            ],
        ),
        Kind(
            "negative logits",
            "Dividing -1 by 2 gives -0.5, which is more. A negative logit has to be multiplied to fall.",
            [(_Z, np.array([1]), 2.0), (_Z, np.array([4, 0, 1]), 1.5), (draw(1, 6) - 3, np.array([2, 5]), 1.25)],
        ),
        Kind(
            "a token written twice",
            "Each token that occurs is penalised once, however often it occurs.",
            [(_Z, np.array([3, 3, 0]), 2.0), (_Z, np.array([0, 0, 0]), 1.5)],
        ),
        Kind("an empty text", "Nothing was written, so nothing is penalised.", [(_Z, np.array([], np.int64), 2.0)]),
    ],
    mistakes=[
        Mistake(
            lambda z, ids, penalty: _at(z, ids, lambda x: x / penalty),
            "You divide negative logits too. -1 / 2 is -0.5, so the token becomes likelier: multiply where z < 0.",
        ),
        Mistake(
            lambda z, ids, penalty: _at(z, ids, lambda x: x * penalty),
            "You multiply positive logits too: the token becomes likelier. Divide where z > 0.",
        ),
        Mistake(
            lambda z, ids, penalty: _at(z, ids, lambda x: x - penalty),
            "You subtract the penalty. That is another rule (a presence penalty); this one divides or multiplies.",
        ),
        Mistake(_by_counts, "You penalise a token once for each time it occurs. Once is enough: np.unique(ids)."),
        Mistake(
            lambda z, ids, penalty: _penalised(z, np.setdiff1d(np.arange(len(z)), ids), penalty),
            "You penalise the tokens that were not written. It is those in ids that repeat.",
        ),
        Mistake(
            lambda z, ids, penalty: _penalised(z, np.arange(len(z)), penalty),
            "You penalise every token. Only those in ids have been written.",
        ),
        Mistake(
            lambda z, ids, penalty: lmhead.softmax(_penalised(z, ids, penalty)),
            "You return probabilities. Asked are the logits, of which others may still take a temperature or a cut.",
        ),
        Mistake(
            lambda z, ids, penalty: _at(z, ids, lambda x: x * 0 - np.inf),
            "You forbid the token. A penalty makes it less likely and no more: words do come back in a text.",
        ),
        Mistake(
            lambda z, ids, penalty: _penalised(z, ids, penalty)[np.unique(ids)],
            "You return the penalised logits alone. Keep the whole row, so that an index is still a token id.",
        ),
        Mistake(
            lambda z, ids, penalty: _at(z, ids, lambda x: np.where(x > 0, x * penalty, x / penalty)),
            "You have the two cases swapped: the penalised token becomes likelier. Divide where z > 0.",
        ),
    ],
)


def repetition_penalty(yours: Function) -> None:
    """Chapter 11, `penalise(z, ids, penalty) -> logits`: the tokens of the text so far made less likely.

    z is one row `[vocab]`, ids the token ids written so far `[positions]`, penalty at least 1. The logit of each token
    in ids is divided by the penalty where it is positive and multiplied by it where it is negative, once.

    Source: Keskar et al. (2019), "CTRL"; the case of negative logits as in today's libraries.

    >>> def divides(z, ids, penalty):
    ...     out = z.copy()
    ...     out[ids] /= penalty
    ...     return out
    >>> repetition_penalty(divides)
    Not yet: negative logits (case 4 of 9).
      input     z = [2.0, -1.0, 0.5, 3.0, -0.25], ids = [1], penalty = 2.0
      got       [2.0, -0.5, 0.5, 3.0, -0.25]
      expected  [2.0, -2.0, 0.5, 3.0, -0.25]
      Looks like: You divide negative logits too. -1 / 2 is -0.5, so the token becomes likelier:
      multiply where z < 0.
    >>> def both(z, ids, penalty):
    ...     seen = np.isin(np.arange(len(z)), ids)
    ...     return np.where(seen, np.where(z > 0, z / penalty, z * penalty), z)
    >>> repetition_penalty(both)
    Right: all 9 cases pass.
    """
    run(yours, REPETITION_PENALTY)
