"""Chapter 3: how well a column's direction agrees with h, and what its length is worth."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.head import unembed

norm = np.linalg.norm


COSINES = Exercise(
    right=lambda h, W_U: unembed(h, W_U) / (norm(h) * norm(W_U, axis=0)),
    kinds=[
        Kind(
            "more tokens than dimensions",
            "The cosine is the dot product divided by both lengths: that of h and that of the column.",
            [
                (draw(0, 2), draw(50, 2, 3)),
                (draw(1, 2), draw(51, 2, 3)),
                (np.array([3.0, 4.0]), np.array([[6.0, -3.0, 0.3, 4.0], [8.0, -4.0, 0.4, -3.0]])),
            ],
        ),
        Kind(
            "fewer tokens than dimensions",
            "Which side of W_U is longer says nothing: the norm of a column adds up over axis 0.",
            [(draw(2, 4), draw(52, 4, 2)), (draw(5, 3), draw(55, 3, 2))],
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
    Not yet: more tokens than dimensions (case 1 of 7).
      input     h = [0.3, -0.3], W_U = [[1.0, -1.0, 1.3], [-2.8, 3.3, -0.4]]
      got       [2.687, -3.0406, 1.2021]
      expected  [0.9037, -0.8818, 0.8838]
      Looks like: You divide by the length of h only. Divide by the length of each column too.
    >>> cosines(lambda h, W_U: h @ W_U / (np.linalg.norm(h) * np.linalg.norm(W_U, axis=0)))
    Right: all 7 cases pass.
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
            "every dot product negative",
            "The quotient of two negative numbers is positive, but the column still points away from h: None.",
            [(np.array([-1.0, -2.0]), np.abs(_FAN) + 0.5, j) for j in (0, 1, 2)],
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
    Not yet: a negative dot product (case 7 of 12).
      input     h = [2.0, 0.0], W_U = [[2.0, 1.0, 0.5, -1.0, 0.0], [1.0, 0.5, 2.0, 1.0, 3.0]], j = 3
      got       -2.0
      expected  None
      Looks like: You never return None. A column whose dot product is not positive wins at no
      length.
    >>> winner_by_length(lambda h, W_U, j: max(h @ W_U) / (h @ W_U)[j] if (h @ W_U)[j] > 0 else None)
    Right: all 12 cases pass.
    """
    run(yours, WINNER_BY_LENGTH)
