"""Chapters 3, 4 and 10: a column's direction and length, and what a tied head saves and adds up."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.head import unembed
from lmhead.loss import tied_grad

norm = np.linalg.norm


COSINES = Exercise(
    right=lambda h, W_U: unembed(h, W_U) / (norm(h) * norm(W_U, axis=0)),
    kinds=[
        Kind(
            "columns of different lengths",
            "The cosine is the dot product divided by both lengths: that of h and that of the column.",
            [(draw(seed, 2), draw(seed + 50, 2, 3)) for seed in (0, 1, 2)],
        ),
        Kind(
            "columns along h, and against it",
            "A column along h has cosine 1 and one against it -1, whatever its length.",
            [(np.array([3.0, 4.0]), np.array([[6.0, -3.0, 0.3, 4.0], [8.0, -4.0, 0.4, -3.0]]))],
        ),
        Kind(
            "as many tokens as dimensions",
            "In a square W_U only the axis tells columns from rows: the norm of a column adds up over axis 0.",
            [(draw(seed, 3), draw(seed + 50, 3, 3)) for seed in (3, 4)],
        ),
    ],
    mistakes=[
        Mistake(lambda h, W_U: h @ W_U, "You return dot products, the logits. Divide by both lengths."),
        Mistake(
            lambda h, W_U: h @ W_U / norm(h),
            "You divide by the length of h only. Divide by the length of each column too.",
        ),
        Mistake(lambda h, W_U: h @ W_U / norm(W_U, axis=0), "You leave out the length of h. Divide by it too."),
        Mistake(
            lambda h, W_U: h @ W_U / (norm(h) * norm(W_U, axis=1)),
            "You take the lengths of the rows (axis 1). A token is a column: norm over axis 0.",
        ),
        Mistake(
            lambda h, W_U: h @ W_U / (norm(h) * norm(W_U)),
            "You divide by one norm of the whole matrix. Each column has its own: axis=0.",
        ),
        Mistake(
            lambda h, W_U: h @ W_U / (h @ h * (W_U**2).sum(axis=0)),
            "You divide by squared lengths. The square root is missing.",
        ),
        Mistake(
            lambda h, W_U: h @ W_U / (np.abs(h).sum() * np.abs(W_U).sum(axis=0)),
            "You divide by sums of absolute values. A length is the root of the sum of squares.",
        ),
        Mistake(
            lambda h, W_U: np.arccos(np.clip(h @ W_U / (norm(h) * norm(W_U, axis=0)), -1, 1)),
            "You return the angle. The cosine comes one step before.",
        ),
        Mistake(
            lambda h, W_U: 1 - h @ W_U / (norm(h) * norm(W_U, axis=0)),
            "You return 1 - cosine, a distance. The cosine grows as the directions agree.",
        ),
    ],
)


def cosines(yours: Function) -> None:
    r"""Chapter 3, `cosines(h, W_U)`: how well the direction of h agrees with that of each column.

    That is $h \cdot w_j / (\lVert h \rVert \lVert w_j \rVert)$ with $w_j$ column j of W_U. h is `[d_model]`, W_U
    `[d_model, vocab]`, the cosines `[vocab]`.

    >>> cosines(lambda h, W_U: h @ W_U / np.linalg.norm(h))
    Not yet: columns of different lengths (case 1 of 6).
      input     h = [0.3, -0.3], W_U = [[1.0, -1.0, 1.3], [-2.8, 3.3, -0.4]]
      got       [2.687, -3.0406, 1.2021]
      expected  [0.9037, -0.8818, 0.8838]
      Looks like: You divide by the length of h only. Divide by the length of each column too.
    >>> cosines(lambda h, W_U: h @ W_U / (np.linalg.norm(h) * np.linalg.norm(W_U, axis=0)))
    Right: all 6 cases pass.
    """
    run(yours, COSINES)


def _winner_by_length(h: Array, W_U: Array, j: int) -> float | None:
    logits = unembed(h, W_U)
    return float(logits.max() / logits[j]) if logits[j] > 0 else None


_FAN = np.array([[2.0, 1.0, 0.5, -1.0, 0.0], [1.0, 0.5, 2.0, 1.0, 3.0]])  # for h = [2, 0] two columns never win

WINNER_BY_LENGTH = Exercise(
    right=_winner_by_length,
    kinds=[
        Kind(
            "a column that loses",
            "Lengthening a column by f makes its logit f times as large: f is the highest logit over its own.",
            [
                (np.array([2.0, 0.0]), _FAN, 1),
                (np.array([2.0, 0.0]), _FAN, 2),
                (np.array([1.0, 2.0]), _FAN, 0),
                (np.array([3.0, 1.0]), _FAN, 1),
            ],
        ),
        Kind(
            "the column that wins already",
            "The winner ties with itself as it is: the factor is 1.",
            [(np.array([2.0, 0.0]), _FAN, 0), (np.array([1.0, 2.0]), _FAN, 4)],
        ),
        Kind(
            "a negative dot product",
            "Lengthening a column that points away from h makes its logit worse: None.",
            [(np.array([2.0, 0.0]), _FAN, 3), (np.array([3.0, 1.0]), _FAN, 3)],
        ),
        Kind(
            "a dot product of 0",
            "A column at a right angle to h scores 0 at every length: None.",
            [(np.array([2.0, 0.0]), _FAN, 4)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda h, W_U, j: (h @ W_U)[j] / (h @ W_U).max() if (h @ W_U)[j] > 0 else None,
            "Your fraction is upside down. The factor is the highest logit over that of j.",
        ),
        Mistake(
            lambda h, W_U, j: (h @ W_U).max() / (h @ W_U)[j],
            "You never return None. A column whose dot product is not positive wins at no length.",
        ),
        Mistake(
            lambda h, W_U, j: (h @ W_U).max() / (h @ W_U)[j] if (h @ W_U)[j] >= 0 else None,
            "You forget the dot product of exactly 0, where no length helps: not positive means <= 0.",
        ),
        Mistake(
            lambda h, W_U, j: (h @ W_U).max() - (h @ W_U)[j] if (h @ W_U)[j] > 0 else None,
            "You return the gap between the logits. A length multiplies: take the quotient.",
        ),
        Mistake(
            lambda h, W_U, j: (h @ W_U).max() / (h @ W_U)[j] - 1 if (h @ W_U)[j] > 0 else None,
            "You return how much is to be added (f - 1). The factor itself is asked for.",
        ),
        Mistake(
            lambda h, W_U, j: norm(W_U, axis=0)[(h @ W_U).argmax()] / norm(W_U[:, j]) if (h @ W_U)[j] > 0 else None,
            "You compare lengths alone. The directions differ too: compare the logits.",
        ),
        Mistake(
            lambda h, W_U, j: (
                (h @ W_U / norm(W_U, axis=0)).max() / (h @ W_U / norm(W_U, axis=0))[j] if (h @ W_U)[j] > 0 else None
            ),
            "You compare cosines. The lengths that the columns have already count too: compare the logits.",
        ),
        Mistake(
            lambda h, W_U, j: np.delete(h @ W_U, j).max() / (h @ W_U)[j] if (h @ W_U)[j] > 0 else None,
            "You leave j out of the maximum. If j wins already, the factor is 1.",
        ),
    ],
)


def winner_by_length(yours: Function) -> None:
    r"""Chapter 3, `winner_by_length(h, W_U, j)`: the factor by which column j must grow to tie with the highest logit.

    That is $\max_i z_i / z_j$ with $z = h W_U$, and None if $z_j$ is not positive. h is `[d_model]`, W_U
    `[d_model, vocab]`, j a token id.

    >>> winner_by_length(lambda h, W_U, j: (h @ W_U).max() / (h @ W_U)[j])
    Not yet: a negative dot product (case 7 of 9).
      input     h = [2.0, 0.0], W_U = [[2.0, 1.0, 0.5, -1.0, 0.0], [1.0, 0.5, 2.0, 1.0, 3.0]], j = 3
      got       -2.0
      expected  None
      Looks like: You never return None. A column whose dot product is not positive wins at no
      length.
    >>> winner_by_length(lambda h, W_U, j: max(h @ W_U) / (h @ W_U)[j] if (h @ W_U)[j] > 0 else None)
    Right: all 9 cases pass.
    """
    run(yours, WINNER_BY_LENGTH)


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
            "untied, with a bias", "The bias holds one number a token.", [(4, 10, False, True), (512, 100, False, True)]
        ),
        Kind("tied, with a bias", "Only the matrix is shared. A bias is extra all the same.", [(4, 10, True, True)]),
    ],
    mistakes=[
        Mistake(
            lambda d, V, tied, bias: d * V + bias * V,
            "You count the matrix of a tied head. It is the embedding itself and adds nothing.",
        ),
        Mistake(lambda d, V, tied, bias: (not tied) * d * V, "You forget the bias: one number a token."),
        Mistake(
            lambda d, V, tied, bias: (not tied) * d * V + bias * d,
            "Your bias has d_model numbers. It is added to the logits: one a token.",
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
            "You count bytes (4 a number in float32). Asked are parameters.",
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
            "every token once",
            "E is used twice: as the rows read at the input (dx), and as the head (dW_U.T). Gradients add up.",
            [(np.array([2, 0]), draw(1, 2, 2), draw(2, 2, 3)), (np.array([1, 3, 0]), draw(3, 3, 2), draw(4, 2, 4))],
        ),
        Kind(
            "a token that repeats",
            "A row read twice gets both gradients: np.add.at, or a loop.",
            [
                (np.array([2, 0, 2]), draw(5, 3, 2), draw(6, 2, 3)),
                (np.array([1, 1, 1, 0]), draw(7, 4, 2), draw(8, 2, 3)),
            ],
        ),
        Kind(
            "as many tokens as dimensions",
            "dW_U is square here, so that a missing transpose runs. dE is [vocab, d_model].",
            [(np.array([2, 0]), draw(9, 2, 3), draw(10, 3, 3)), (np.array([1, 1]), draw(11, 2, 2), draw(12, 2, 2))],
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
      input     ids = [2, 0, 2]
                dx = [[-1.6, -2.6], [-0.5, 0.8], [2.3, 0.2]]
                dW_U = [[2.1, 3.6, -5.1], [-0.3, 2.0, 2.7]]
      got       [[1.6, 0.5], [3.6, 2.0], [-2.8, 2.9]]
      expected  [[1.6, 0.5], [3.6, 2.0], [-4.4, 0.3]]
      Looks like: A repeated id counts once: dE[ids] += dx keeps only its last dx. Use np.add.at(dE,
      ids, dx), or a loop.
    >>> tied_gradient(lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[ids].T @ dx + dW_U.T)
    Right: all 6 cases pass.
    """
    run(yours, TIED_GRADIENT)
