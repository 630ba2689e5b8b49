"""Chapters 1 and 2: one product from a hidden state to a token, and which way round the matrix is."""

from __future__ import annotations

from typing import Any

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.decoding import greedy
from lmhead.head import unembed

NEXT_TOKEN = Exercise(
    right=lambda h, W_U: int(greedy(unembed(h, W_U))),
    kinds=[
        Kind(
            "more tokens than dimensions",
            "The logits are h @ W_U, one for each token; the answer is the position of the highest.",
            [(draw(seed, 2), draw(seed + 50, 2, 5)) for seed in (0, 1, 2, 3)],
        ),
        Kind(
            "fewer tokens than dimensions",
            "Which side of W_U is longer says nothing: its columns are the tokens, h @ W_U scores them.",
            [(draw(seed, 4), draw(seed + 50, 4, 3)) for seed in (9, 10)],
        ),
        Kind(
            "every logit negative",
            "A logit may be negative. The highest is the one nearest to +inf, not the largest in size.",
            [(np.array([1.0, 1.0]), -np.abs(draw(seed, 2, 4)) - 0.5) for seed in (9, 10)],
        ),
        Kind(
            "as many tokens as dimensions",
            "A square W_U multiplies from both sides: only h @ W_U scores its columns.",
            [(draw(seed, 3), draw(seed + 50, 3, 3)) for seed in (6, 7, 8)],
        ),
    ],
    mistakes=[
        Mistake(lambda h, W_U: (h @ W_U).max(), "You return the highest logit itself. The token id is its position."),
        Mistake(lambda h, W_U: (h @ W_U).argmin(), "You take the lowest logit: argmin for argmax."),
        Mistake(lambda h, W_U: np.abs(h @ W_U).argmax(), "You take the logit of the largest size. Its sign counts."),
        Mistake(lambda h, W_U: (h @ W_U).argmax() + 1, "You count tokens from 1. Token ids start at 0."),
        Mistake(lambda h, W_U: (W_U @ h).argmax(), "You score the rows of W_U. Tokens are its columns: h @ W_U."),
        Mistake(
            lambda h, W_U: h.argmax(), "You take the largest entry of h. An entry of h is no token: multiply first."
        ),
        Mistake(
            lambda h, W_U: (h @ W_U / np.linalg.norm(W_U, axis=0)).argmax(),
            "You take the best cosine. A logit is the dot product, so a column's length counts too.",
        ),
        Mistake(
            lambda h, W_U: np.linalg.norm(W_U - h[:, None], axis=0).argmin(),
            "You take the column nearest to h. The head compares dot products, not distances.",
        ),
        Mistake(
            lambda h, W_U: np.exp(h @ W_U) / np.exp(h @ W_U).sum(),
            "You return all probabilities. One more step picks a token: the id of the largest.",
        ),
    ],
)


def next_token(yours: Function) -> None:
    r"""Chapter 1, `next_token(h, W_U) -> id`: the token with the highest logit, $\arg\max_j (h W_U)_j$.

    h is `[d_model]`, W_U `[d_model, vocab]`, the id an integer from 0.

    >>> next_token(lambda h, W_U: (h @ W_U).max())
    Not yet: wrong type, more tokens than dimensions (case 1 of 11).
      input     h = [0.3, -0.3], W_U = [[1.0, -1.0, 1.3, -2.8, 3.3], [-0.4, 1.1, 1.6, 0.5, 0.4]]
      got       0.87, a float
      expected  4, an integer
      Looks like: You return the highest logit itself. The token id is its position.
    >>> next_token(lambda h, W_U: (h @ W_U).argmax())
    Right: all 11 cases pass.
    """
    run(yours, NEXT_TOKEN)


def small_body(X: Array) -> Array:
    """A body that looks back: half of what it was, and the new row, its dimensions in another order."""
    H = X.copy()
    for t in range(1, len(H)):
        H[t] += H[t - 1] / 2
    return H[:, ::-1]


def written(ids: list[int], n: int, E: Array, body: Function, W_U: Array) -> list[int]:
    """The right solution of `write`, as a loop."""
    ids = list(ids)
    for _ in range(n):
        ids.append(int(greedy(unembed(body(E[ids])[-1], W_U))))
    return ids


def written_by(choose: Function) -> Function:
    """A wrong `write` that differs in how it chooses: `choose(ids, E, body, W_U) -> id`."""

    def write(ids: list[int], n: int, E: Array, body: Function, W_U: Array) -> list[int]:
        ids = list(ids)
        for _ in range(n):
            ids.append(int(choose(ids, E, body, W_U)))
        return ids

    return write


def texts(*cases: tuple[int, int], n: int) -> list[tuple[Any, ...]]:
    """Cases of `write` out of (seed, length): so many tokens of seven, n more to be written."""
    return [
        (
            np.random.default_rng(seed).integers(0, 7, length).tolist(),
            n,
            draw(seed + 50, 7, 4),
            small_body,
            draw(seed + 90, 4, 7),
        )
        for seed, length in cases
    ]


WRITE = Exercise(
    right=written,
    kinds=[
        Kind(
            "one token more",
            "Look up all ids, run the body, score its last row, append the id of the best.",
            texts((0, 3), (1, 1), (2, 5), n=1),
        ),
        Kind(
            "several tokens more",
            "Each new id joins the text before the next round: the body has to see it.",
            texts((3, 3), (4, 2), (5, 4), n=4),
        ),
        Kind("no token more", "With n = 0 nothing is written: the same ids come back.", texts((6, 3), n=0)),
    ],
    mistakes=[
        Mistake(
            lambda ids, n, E, body, W_U: [*ids, *written(ids, 1, E, body, W_U)[-1:] * n],
            "You choose once and repeat the choice. Append the id, then run the whole chain again.",
        ),
        Mistake(
            lambda ids, n, E, body, W_U: written(ids, n, E, body, W_U)[len(ids) :],
            "You return the new ids alone. The old ones belong to the text too.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: (body(E[ids[-1:]])[-1] @ W_U).argmax()),
            "You give the body the last token alone. It has to see the whole text.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: (body(E[ids])[0] @ W_U).argmax()),
            "You take the first row of what the body returns. The last one has seen the whole text.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: (E[ids[-1]] @ W_U).argmax()),
            "You score the row of E. It goes through the body first: only then has it seen the context.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: (body(E[ids]) @ W_U).max(axis=0).argmax()),
            "You take the highest score of all rows. Only the last row speaks of the next token.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: (body(E[ids])[-1] @ W_U).argmin()),
            "You append the lowest score: argmin for argmax.",
        ),
        Mistake(
            lambda ids, n, E, body, W_U: written(ids, n + 1, E, body, W_U),
            "You write one token too many: n rounds, one token in each.",
        ),
        Mistake(
            lambda ids, n, E, body, W_U: [*written(ids, n, E, body, W_U)[len(ids) :], *ids],
            "You put the new ids before the old ones. A text grows at its end.",
        ),
        Mistake(
            written_by(lambda ids, E, body, W_U: np.linalg.norm(E - body(E[ids])[-1], axis=1).argmin()),
            "You search the row of E that is nearest to h. The head does not search: score with h @ W_U.",
        ),
    ],
)


def write(yours: Function) -> None:
    r"""Chapter 1, `write(ids, n, E, body, W_U) -> ids`: n more tokens, each the one with the highest logit.

    ids is a list of T token ids, E `[vocab, d_model]`, body a function from `[positions, d_model]` to the same, W_U
    `[d_model, vocab]`; the result has T + n ids.

    >>> write(lambda ids, n, E, body, W_U: [*ids, *[int((body(E[ids])[-1] @ W_U).argmax())] * n])
    Not yet: several tokens more (case 4 of 7).
      input     ids = [5, 0, 1]
                n = 4
                E = an array [7, 4]
                body = a function
                W_U = an array [4, 7]
      got       [5, 0, 1, 2, 2, 2, 2]
      expected  [5, 0, 1, 2, 3, 1, 2]
      Looks like: You choose once and repeat the choice. Append the id, then run the whole chain
      again.
    """
    run(yours, WRITE)


def orient(matrix: Array, d_model: int) -> Array | None:
    """The right solution of `right_way_round`."""
    rows, columns = matrix.shape
    if rows == columns:
        return None
    return matrix if rows == d_model else matrix.T


RIGHT_WAY_ROUND = Exercise(
    right=orient,
    kinds=[
        Kind(
            "more tokens than dimensions",
            "A matrix with d_model rows is W_U already. One with d_model columns has a row for each token: transpose.",
            [(draw(1, 2, 3), 2), (draw(2, 2, 5), 2), (draw(3, 3, 2), 2), (draw(4, 4, 3), 3)],
        ),
        Kind(
            "fewer tokens than dimensions",
            "Which side is longer says nothing: compare the sides with d_model.",
            [(draw(5, 4, 3), 4), (draw(6, 2, 5), 5)],
        ),
        Kind(
            "a square matrix",
            "vocab = d_model: both ways fit, and the sizes cannot tell. Return None.",
            [(draw(7, 3, 3), 3), (draw(8, 2, 2), 2)],
        ),
    ],
    mistakes=[
        Mistake(lambda matrix, d_model: matrix.T, "You always transpose. Look first which side is d_model."),
        Mistake(lambda matrix, d_model: matrix, "You never transpose. A matrix with d_model columns has to be turned."),
        Mistake(
            lambda matrix, d_model: None if len(matrix) == len(matrix.T) else matrix.reshape(d_model, -1),
            "You reshape where you mean to transpose: reshape keeps the order of the numbers and mixes the tokens up.",
        ),
        Mistake(
            lambda matrix, d_model: matrix.T if len(matrix) == d_model else matrix,
            "Your result is [vocab, d_model]. W_U has its tokens as columns.",
        ),
        Mistake(
            lambda matrix, d_model: matrix if len(matrix) == d_model else matrix.T,
            "You return a square matrix as it is. Both ways round would fit: nothing says that this one is right.",
        ),
        Mistake(
            lambda matrix, d_model: matrix.T if len(matrix.T) == d_model else matrix,
            "You transpose a square matrix. Both ways round would fit: nothing says that this one is right.",
        ),
        Mistake(
            lambda matrix, d_model: (
                None if len(matrix) == len(matrix.T) else matrix if len(matrix) < len(matrix.T) else matrix.T
            ),
            "You take the longer side for the vocabulary. d_model is given: compare the sides with it.",
        ),
        Mistake(
            lambda matrix, d_model: matrix.shape if len(matrix) == d_model else matrix.shape[::-1],
            "You return a shape. The matrix itself is wanted.",
        ),
        Mistake(
            lambda matrix, d_model: matrix if len(matrix) == d_model != len(matrix.T) else None,
            "You give up where the tokens are rows. The sizes can tell there: transpose.",
        ),
        Mistake(
            lambda matrix, d_model: (
                None if len(matrix) == len(matrix.T) else matrix if len(matrix) > len(matrix.T) else matrix.T
            ),
            "You take the longer side for d_model. d_model is given: compare the sides with it.",
        ),
    ],
)


def right_way_round(yours: Function) -> None:
    """Chapter 2, `right_way_round(matrix, d_model) -> W_U or None`: turn a head so that its tokens are columns.

    matrix is `[d_model, vocab]` or `[vocab, d_model]`, the result `[d_model, vocab]`, or None where both would fit.

    >>> right_way_round(lambda matrix, d_model: matrix if len(matrix) == d_model else matrix.T)
    Not yet: a square matrix (case 7 of 8).
      input     matrix = [[0.0, 0.6, -0.5], [-1.8, -0.9, -2.0], [0.1, 2.7, -1.0]], d_model = 3
      got       [[0.0, 0.6, -0.5], [-1.8, -0.9, -2.0], [0.1, 2.7, -1.0]]
      expected  None
      Looks like: You return a square matrix as it is. Both ways round would fit: nothing says that
      this one is right.
    """
    run(yours, RIGHT_WAY_ROUND)


def logit_at(line: Array, h: Array, j: int, together: bool) -> float:
    """The right solution of `logit_from_memory`."""
    d_model = len(h)
    column = line[j * d_model : (j + 1) * d_model] if together else line[j :: len(line) // d_model]
    return float(h @ column)


def lines(*cases: tuple[int, int, int, int], together: bool) -> list[tuple[Any, ...]]:
    """Cases of `logit_from_memory` out of (seed, d_model, vocab, token)."""
    return [(draw(seed, d * V), draw(seed + 50, d), j, together) for seed, d, V, j in cases]


LOGIT_FROM_MEMORY = Exercise(
    right=logit_at,
    kinds=[
        Kind(
            "token by token",
            "The d_model numbers of token j are the j-th piece of the line, from 0: multiply with h and add up.",
            lines((0, 2, 3, 1), (1, 4, 3, 2), (2, 2, 5, 4), together=True),
        ),
        Kind(
            "row by row of W_U",
            "The numbers of token j stand one vocabulary apart, the first one at place j.",
            lines((3, 2, 3, 1), (4, 4, 3, 2), (5, 2, 5, 4), together=False),
        ),
    ],
    mistakes=[
        Mistake(
            lambda line, h, j, together: logit_at(line, h, j, True),
            "You take the numbers of a token to lie together always. In W_U's own rows they lie one vocabulary apart.",
        ),
        Mistake(
            lambda line, h, j, together: logit_at(line, h, j, False),
            "You step through the line always. Where a token's numbers lie together they are one slice.",
        ),
        Mistake(
            lambda line, h, j, together: logit_at(line, h, j, not together),
            "You have the two layouts the wrong way round.",
        ),
        Mistake(
            lambda line, h, j, together: float(h @ line[j : j + len(h)]) if together else logit_at(line, h, j, False),
            "You start at place j. Before token j stand j tokens of d_model numbers each: start at j * d_model.",
        ),
        Mistake(
            lambda line, h, j, together: logit_at(line, h, j, True) if together else float(h @ line[j :: len(h)]),
            "Your step is d_model. From one number of a token to its next it is one whole vocabulary.",
        ),
        Mistake(
            lambda line, h, j, together: logit_at(line, h, j - 1, together),
            "You count tokens from 1. Token ids start at 0.",
        ),
        Mistake(
            lambda line, h, j, together: (
                h @ (line.reshape(-1, len(h)).T if together else line.reshape(len(h), -1))
            ).tolist(),
            "You return the logits of all tokens. Only that of token j is wanted.",
        ),
        Mistake(
            lambda line, h, j, together: (
                h * (line.reshape(-1, len(h)).T if together else line.reshape(len(h), -1))[:, j]
            ),
            "You multiply entry by entry and do not add up.",
        ),
        Mistake(
            lambda line, h, j, together: (line.reshape(-1, len(h)).T if together else line.reshape(len(h), -1))[:, j],
            "You return the token's column. Its logit is the dot product with h.",
        ),
    ],
)


def logit_from_memory(yours: Function) -> None:
    r"""Chapter 2, `logit_from_memory(line, h, j, together) -> number`: one logit, $h \cdot w_j$, without a matrix.

    line has the `d_model * vocab` numbers of a head, token by token if `together` is true, else W_U row by row; h is
    `[d_model]`.

    >>> logit_from_memory(lambda line, h, j, together: h @ line[j * len(h) : (j + 1) * len(h)])
    Not yet: row by row of W_U (case 4 of 6).
      input     line = [4.1, -5.1, 0.8, -1.1, -0.9, -0.4], h = [0.2, -1.6], j = 1, together = False
      got       1.92
      expected  0.42
      Looks like: You take the numbers of a token to lie together always. In W_U's own rows they lie
      one vocabulary apart.
    """
    run(yours, LOGIT_FROM_MEMORY)
