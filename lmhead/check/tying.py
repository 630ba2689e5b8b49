"""Chapters 4 and 10: what a tied head makes of the rows that it shares, and which of them learn."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run


def _above_itself(E: Array) -> Array:
    scores = E @ E.T
    above: Array = (scores > scores.diagonal()[:, None]).sum(axis=1)
    return above


_LONG_ROW = np.array([[0.5, 1.0], [6.0, 6.0], [1.0, -0.5], [-1.0, -1.0]])  # it wins after whatever points its way
_EQUAL_ROWS = np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, -1.0, 3.0], [1.0, 1.0, 1.0]])

ABOVE_ITSELF = Exercise(
    right=_above_itself,
    kinds=[
        Kind(
            "rows of different lengths",
            "Row i of E E^T holds the scores after token i. Compare each with the token's own, at place i of that row.",
            [(draw(1, 5, 2),), (draw(2, 6, 3),), (draw(3, 7, 2),)],
        ),
        Kind("one long row", "A long row scores high after every token that points its way.", [(_LONG_ROW,)]),
        Kind(
            "two equal rows",
            "Equal scores are not higher: count > only.",
            [(_EQUAL_ROWS,), (np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 2.0]]),)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda E: ((E @ E.T).diagonal() < E @ E.T).sum(axis=1),
            "You compare with the other token's own score. Token i's stands in row i: diagonal()[:, None].",
        ),
        Mistake(
            lambda E: ((E @ E.T).diagonal()[:, None] <= E @ E.T).sum(axis=1),
            "You count the token itself, and all that are equal (>=). Only higher scores count: >.",
        ),
        Mistake(
            lambda E: ((E @ E.T).diagonal()[:, None] <= E @ E.T).sum(axis=1) - 1,
            "You count tokens with the same score. They do not score higher: >.",
        ),
        Mistake(
            lambda E: ((E @ E.T).diagonal()[:, None] > E @ E.T).sum(axis=1),
            "You count the tokens that score lower. Turn the comparison round.",
        ),
        Mistake(
            lambda E: np.zeros(len(E), int),
            "You find 0 everywhere, as cosines would have it. A score is a dot product, in which the length counts.",
        ),
        Mistake(
            lambda E: (np.linalg.norm(E, axis=1) > np.linalg.norm(E, axis=1)[:, None]).sum(axis=1),
            "You count the longer rows. A long row that points away scores low: compare dot products.",
        ),
        Mistake(
            lambda E: ((E @ E.T).diagonal()[:, None] < E @ E.T).any(axis=1).astype(int),
            "You say whether any token scores higher. Asked is how many.",
        ),
        Mistake(lambda E: (E @ E.T).argmax(axis=1), "You return the token that scores highest. Count those above i."),
        Mistake(
            lambda E: int(_above_itself(E).sum()),
            "You return one number for all tokens. Asked is one number per token: sum over axis 1.",
        ),
    ],
)


def above_itself(yours: Function) -> None:
    r"""Chapter 4, `above_itself(E)`: for each token, how many score higher when a tied head reads its own row of E.

    That is $\#\{j : E_i \cdot E_j > E_i \cdot E_i\}$, `[vocab]` integers, 0 where the head points back at the token.
    E is `[vocab, d_model]`.

    >>> above_itself(lambda E: (E @ E.T > (E @ E.T).diagonal()).sum(axis=1))
    Not yet: rows of different lengths (case 1 of 6).
      input     E = [[0.7, 1.6], [0.7, -2.6], [1.8, 0.9], [-1.1, 1.2], [0.7, 0.6]]
      got       [1, 0, 1, 0, 0]
      expected  [0, 0, 0, 0, 2]
      Looks like: You compare with the other token's own score. Token i's stands in row i:
      diagonal()[:, None].
    >>> above_itself(lambda E: [sum(E[i] @ row > E[i] @ E[i] for row in E) for i in range(len(E))])
    Right: all 6 cases pass.
    """
    run(yours, ABOVE_ITSELF)


def _rows_with_gradient(ids: Array, vocab_size: int, tied: bool) -> int:
    return vocab_size if tied else len(np.unique(ids[:-1]))


ROWS_WITH_GRADIENT = Exercise(
    right=_rows_with_gradient,
    kinds=[
        Kind(
            "untied, all words different",
            "Untied, a row learns if its token was read where a target depends on it: not at the last position.",
            [(np.array([2, 0, 5, 1]), 8, False), (np.array([1, 3]), 5, False)],
        ),
        Kind(
            "untied, words that repeat",
            "A token that is read twice is one row.",
            [(np.array([2, 0, 2, 1]), 8, False), (np.array([4, 4, 4, 4]), 6, False)],
        ),
        Kind(
            "untied, the last word was read before",
            "The last reading changes no loss, but the earlier one does.",
            [(np.array([3, 0, 1, 3]), 7, False)],
        ),
        Kind(
            "tied",
            "The head scores every token at every position, so every row has a gradient.",
            [(np.array([2, 0, 5, 1]), 8, True), (np.array([4, 4, 4, 4]), 6, True), (np.array([3, 0, 1, 3]), 7, True)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else len(np.unique(ids)),
            "You count the last word. Nothing is predicted after it, so what is read there changes no loss.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else len(ids) - 1,
            "You count readings. A token that is read twice is one row of E.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else len(ids),
            "You count positions. Asked are rows of E: no token twice, and not the last reading.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: len(np.unique(ids[:-1])),
            "You take the tied model for an untied one. Its head scores every token at every position.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: vocab_size,
            "You take the untied model for a tied one. There a row of E that was not read has gradient 0.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else len(np.unique(ids[1:])),
            "You count the targets. E is read at the input: all words but the last.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else vocab_size - len(np.unique(ids[:-1])),
            "You count the rows that stay. Asked are those that get a gradient.",
        ),
        Mistake(
            lambda ids, vocab_size, tied: len(np.unique(ids[:-1])) if tied else vocab_size,
            "You have tied and untied the wrong way round.",
        ),
    ],
)


def rows_with_gradient(yours: Function) -> None:
    """Chapter 10, `rows_with_gradient(ids, vocab_size, tied) -> int`: how many rows of E a text gives a gradient.

    ids are the tokens of one text `[positions]`, each but the last with a target; a position sees itself and all before
    it. Tied, the head scores every token; untied, a row learns only if it was read where a target depends on it.

    >>> rows_with_gradient(lambda ids, vocab_size, tied: vocab_size if tied else len(set(ids.tolist())))
    Not yet: untied, all words different (case 1 of 8).
      input     ids = [2, 0, 5, 1], vocab_size = 8, tied = False
      got       4
      expected  3
      Looks like: You count the last word. Nothing is predicted after it, so what is read there
      changes no loss.
    >>> rows_with_gradient(lambda ids, vocab_size, tied: vocab_size if tied else len(set(ids[:-1].tolist())))
    Right: all 8 cases pass.
    """
    run(yours, ROWS_WITH_GRADIENT)
