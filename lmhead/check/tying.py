"""Chapters 4 and 10: what a tied head saves, what it makes of the rows that it shares, which of them learn."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.loss import tied_grad

HEAD_PARAMETERS = Exercise(
    right=lambda d_model, vocab_size, tied, bias: (not tied) * d_model * vocab_size + bias * vocab_size,
    kinds=[
        Kind(
            "untied, no bias", "The head is one matrix of its own.", [(4, 10, False, False), (576, 49152, False, False)]
        ),
        Kind(
            "tied, no bias", "A tied head is a view of E. It adds nothing.", [(4, 10, True, False), (8, 8, True, False)]
        ),
        Kind(
            "untied, with a bias", "A bias holds one number per token.", [(4, 10, False, True), (512, 100, False, True)]
        ),
        Kind("tied, with a bias", "Only the matrix is shared. A bias is extra all the same.", [(4, 10, True, True)]),
    ],
    mistakes=[
        Mistake(
            lambda d, V, tied, bias: d * V + bias * V,
            "You count the matrix of a tied head. It is the embedding itself and adds nothing.",
        ),
        Mistake(lambda d, V, tied, bias: (not tied) * d * V, "You forget the bias: one number per token."),
        Mistake(
            lambda d, V, tied, bias: (not tied) * d * V + bias * d,
            "Your bias has d_model numbers. It is added to the logits: one per token.",
        ),
        Mistake(
            lambda d, V, tied, bias: 0 if tied else d * V + bias * V,
            "You drop the bias of a tied head. Only the matrix is shared.",
        ),
        Mistake(lambda d, V, tied, bias: tied * d * V + bias * V, "You have tied and untied the wrong way round."),
        Mistake(
            lambda d, V, tied, bias: (2 - tied) * d * V + bias * V,
            "You count the embedding too. Asked is what the head adds to it.",
        ),
        Mistake(
            lambda d, V, tied, bias: (not tied) * (d + V) + bias * V,
            "You add the sizes of the matrix. It holds d_model times vocab_size numbers.",
        ),
        Mistake(
            lambda d, V, tied, bias: 4 * ((not tied) * d * V + bias * V),
            "You count bytes (4 per number in float32). Asked are parameters.",
        ),
    ],
)


def head_parameters(yours: Function) -> None:
    """Chapter 4, `head_parameters(d_model, vocab_size, tied, bias) -> int`: the parameters that a head adds.

    An untied matrix is d_model x vocab_size, a tied one adds nothing; a bias is vocab_size. tied and bias are bool.

    >>> head_parameters(lambda d_model, vocab_size, tied, bias: 0 if tied else vocab_size * (d_model + bias))
    Not yet: tied, with a bias (case 7 of 7).
      input     d_model = 4, vocab_size = 10, tied = True, bias = True
      got       0
      expected  10
      Looks like: You drop the bias of a tied head. Only the matrix is shared.
    >>> head_parameters(lambda d_model, vocab_size, tied, bias: vocab_size * (d_model * (not tied) + bias))
    Right: all 7 cases pass.
    """
    run(yours, HEAD_PARAMETERS)


def _above_itself(E: Array) -> Array:
    scores = E @ E.T
    above: Array = (scores > scores.diagonal()[:, None]).sum(axis=1)
    return above


# Whole numbers and halves: every product is exact, however it is computed, so that a token never beats itself.
_LONG_ROW = np.array([[0.5, 1.0], [6.0, 6.0], [1.0, -0.5], [-1.0, -1.0]])  # it wins after whatever points its way
_EQUAL_ROWS = np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, -1.0, 3.0], [1.0, 1.0, 1.0]])

ABOVE_ITSELF = Exercise(
    right=_above_itself,
    kinds=[
        Kind(
            "rows of different lengths",
            "Row i of E E^T holds the scores after token i. Compare each with the token's own, at place i of that row.",
            [(draw(seed, *shape).round(),) for seed, *shape in ((6, 5, 2), (23, 6, 3), (117, 4, 4))] + [(_LONG_ROW,)],
        ),
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
      input     E = [[2.0, 4.0], [-5.0, 0.0], [2.0, 3.0], [1.0, 3.0], [1.0, 1.0]]
      got       [3, 0, 2, 1, 0]
      expected  [0, 0, 1, 2, 3]
      Looks like: You compare with the other token's own score. Token i's stands in row i:
      diagonal()[:, None].
    >>> above_itself(lambda E: [sum(E[i] @ row > E[i] @ E[i] for row in E) for i in range(len(E))])
    Right: all 6 cases pass.
    """
    run(yours, ABOVE_ITSELF)


def _scatter(ids: Array, dx: Array, vocab_size: int) -> Array:
    dE = np.zeros((vocab_size, dx.shape[-1]))
    np.add.at(dE, ids, dx)
    return dE


def _overwrite(ids: Array, dx: Array, dW_U: Array) -> Array:
    dE = dW_U.T.copy()
    dE[ids] += dx
    return dE


def _assign(ids: Array, dx: Array, dW_U: Array) -> Array:
    dE = dW_U.T.copy()
    dE[ids] = dx
    return dE


TIED_GRADIENT = Exercise(
    right=tied_grad,
    kinds=[
        Kind(
            "more tokens than dimensions",
            "E is used twice: as the rows read at the input (dx), and as the head (dW_U.T). Gradients add up.",
            [(np.array([2, 0]), draw(1, 2, 2), draw(2, 2, 3)), (np.array([1, 3, 0]), draw(3, 3, 2), draw(4, 2, 4))],
        ),
        Kind(
            "a token that repeats",
            "A row read twice gets both gradients: np.add.at, or a loop.",
            [
                (np.array([1, 0, 1]), draw(5, 3, 3), draw(6, 3, 2)),
                (np.array([1, 1, 1, 0]), draw(7, 4, 3), draw(8, 3, 2)),
            ],
        ),
        Kind(
            "as many tokens as dimensions",
            "dW_U is square here, so that a missing transpose runs. dE is [vocab, d_model].",
            [(np.array([2, 0]), draw(9, 2, 3), draw(10, 3, 3)), (np.array([1, 0]), draw(11, 2, 2), draw(12, 2, 2))],
        ),
    ],
    mistakes=[
        Mistake(lambda ids, dx, dW_U: dW_U.T.copy(), "You count the head only. The rows read at the input get dx too."),
        Mistake(
            lambda ids, dx, dW_U: _scatter(ids, dx, dW_U.shape[1]),
            "You count the input only. As the head, E gets dW_U.T too.",
        ),
        Mistake(
            _overwrite,
            "A repeated id counts once: dE[ids] += dx keeps only its last dx. Use np.add.at(dE, ids, dx), or a loop.",
        ),
        Mistake(_assign, "You overwrite the head's share (=). Gradients of two uses add up (+=)."),
        Mistake(
            lambda ids, dx, dW_U: _scatter(ids, dx, dW_U.shape[1]) + dW_U,
            "The transpose is missing. dW_U is [d_model, vocab], dE is [vocab, d_model]: add dW_U.T.",
        ),
        Mistake(
            lambda ids, dx, dW_U: _scatter(ids, dx, dW_U.shape[1]) + dW_U.reshape(dW_U.shape[::-1]),
            "You reshape where you mean to transpose: reshape mixes the tokens up. Add dW_U.T.",
        ),
        Mistake(lambda ids, dx, dW_U: tied_grad(ids, dx, dW_U) / 2, "You average the two uses. Gradients add up."),
        Mistake(
            lambda ids, dx, dW_U: dW_U.T - _scatter(ids, dx, dW_U.shape[1]),
            "You subtract the input's share. Gradients add up; the minus belongs to the step.",
        ),
        Mistake(
            lambda ids, dx, dW_U: tied_grad(ids, dx, dW_U).T,
            "Your gradient is [d_model, vocab]. It belongs to E, so it has E's shape [vocab, d_model].",
        ),
    ],
)


def tied_gradient(yours: Function) -> None:
    r"""Chapter 10, `tied_gradient(ids, dx, dW_U) -> dE`: the gradient of an embedding that is the head too.

    Both uses add up: $\sum_t \mathrm{onehot}(ids_t)\,dx_t + dW_U^\top$. ids are the input tokens `[positions]`, dx
    `[positions, d_model]` the gradient of the rows read, dW_U `[d_model, vocab]` that of the head; dE is
    `[vocab, d_model]`.

    >>> def overwrites(ids, dx, dW_U):
    ...     dE = dW_U.T.copy()
    ...     dE[ids] += dx
    ...     return dE
    >>> tied_gradient(overwrites)
    Not yet: a token that repeats (case 3 of 6).
      input     ids = [1, 0, 1]
                dx = [[-1.6, -2.6, -0.5], [0.8, 2.3, 0.2], [-1.1, -1.6, 1.5]]
                dW_U = [[2.1, 3.6], [-5.1, -0.3], [2.0, 2.7]]
      got       [[2.9, -2.8, 2.2], [2.5, -1.9, 4.2]]
      expected  [[2.9, -2.8, 2.2], [0.9, -4.5, 3.7]]
      Looks like: A repeated id counts once: dE[ids] += dx keeps only its last dx. Use np.add.at(dE,
      ids, dx), or a loop.
    >>> tied_gradient(lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[ids].T @ dx + dW_U.T)
    Right: all 6 cases pass.
    """
    run(yours, TIED_GRADIENT)


def _rows_with_gradient(ids: Array, vocab_size: int, tied: bool) -> int:
    return vocab_size if tied else len(np.unique(ids[:-1]))


ROWS_WITH_GRADIENT = Exercise(
    right=_rows_with_gradient,
    kinds=[
        Kind(
            "untied",
            "Untied, a row learns if its token was read where a target depends on it: not at the last position. "
            "A token that is read twice is one row.",
            [
                (np.array([2, 0, 5, 1]), 8, False),
                (np.array([1, 3]), 5, False),
                (np.array([2, 0, 2, 1]), 8, False),
                (np.array([4, 4, 4, 1]), 6, False),
            ],
        ),
        Kind(
            "untied, the last word was read before",
            "The last reading changes no loss, but the earlier one does.",
            [(np.array([3, 0, 1, 3]), 7, False), (np.array([5, 2, 5]), 6, False)],
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
        Mistake(
            lambda ids, vocab_size, tied: vocab_size if tied else len(np.unique(ids)) - 1,
            "You take the last word off the set. If it was read before too, its row has a gradient all the same.",
        ),
    ],
)


def rows_with_gradient(yours: Function) -> None:
    """Chapter 10, `rows_with_gradient(ids, vocab_size, tied) -> int`: how many rows of E a text gives a gradient.

    ids are the tokens of one text `[positions]`, each but the last with a target; a position sees itself and all before
    it. Tied, the head scores every token; untied, a row learns only if it was read where a target depends on it.

    >>> rows_with_gradient(lambda ids, vocab_size, tied: vocab_size if tied else len(set(ids.tolist())))
    Not yet: untied (case 1 of 9).
      input     ids = [2, 0, 5, 1], vocab_size = 8, tied = False
      got       4
      expected  3
      Looks like: You count the last word. Nothing is predicted after it, so what is read there
      changes no loss.
    >>> rows_with_gradient(lambda ids, vocab_size, tied: vocab_size if tied else len(set(ids[:-1].tolist())))
    Right: all 9 cases pass.
    """
    run(yours, ROWS_WITH_GRADIENT)
