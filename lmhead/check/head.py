"""Chapters 1 and 2: one product from a hidden state to a token, and which way round the matrix is."""

from __future__ import annotations

import numpy as np

from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.decoding import greedy
from lmhead.head import tie, unembed

NEXT_TOKEN = Exercise(
    right=lambda h, W_U: int(greedy(unembed(h, W_U))),
    kinds=[
        Kind(
            "one position",
            "The logits are h @ W_U, one a token; the answer is the position of the highest.",
            [(draw(seed, 2), draw(seed + 50, 2, 5)) for seed in (0, 1, 2, 3)],
        ),
        Kind(
            "every logit negative",
            "A logit may be negative. The highest is the one nearest to +inf, not the largest in size.",
            [(np.array([1.0, 1.0]), -np.abs(draw(seed, 2, 4)) - 0.5) for seed in (4, 5)],
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
    Not yet: wrong type, one position (case 1 of 9).
      input     h = [0.3, -0.3], W_U = [[1.0, -1.0, 1.3, -2.8, 3.3], [-0.4, 1.1, 1.6, 0.5, 0.4]]
      got       0.87, a float
      expected  4, an integer
      Looks like: You return the highest logit itself. The token id is its position.
    >>> next_token(lambda h, W_U: (h @ W_U).argmax())
    Right: all 9 cases pass.
    """
    run(yours, NEXT_TOKEN)


NEAREST_ROW = Exercise(
    right=lambda h, E: int(np.linalg.norm(E - h, axis=-1).argmin()),
    kinds=[
        Kind(
            "rows of different lengths",
            "The distance to row i is the norm of E[i] - h; the answer is the position of the smallest.",
            [
                (np.array([1.0, 1.0]), np.array([[4.0, 1.0], [3.0, 3.0], [-5.0, 0.0]])),
                *((draw(seed, 2), draw(seed + 50, 5, 2)) for seed in (0, 1, 2)),
            ],
        ),
        Kind(
            "h is itself a row",
            "A row equal to h is at distance 0: nothing is nearer.",
            [(draw(seed, 4, 2)[2], draw(seed, 4, 2)) for seed in (4, 5)],
        ),
        Kind(
            "as many rows as dimensions",
            "In a square E only the axis tells rows from columns: sum over the last one.",
            [(draw(seed, 3), draw(seed + 50, 3, 3)) for seed in (6, 7, 8)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda h, E: (E @ h).argmax(),
            "You take the largest dot product: that is the highest logit of a tied head. The nearest row is another.",
        ),
        Mistake(
            lambda h, E: (E @ h / np.linalg.norm(E, axis=1)).argmax(),
            "You take the best cosine: that compares directions only. Distance sees the length too.",
        ),
        Mistake(lambda h, E: np.linalg.norm(E - h, axis=1).argmax(), "You take the farthest row: argmax for argmin."),
        Mistake(lambda h, E: np.linalg.norm(E - h, axis=1).min(), "You return the distance. The id is its position."),
        Mistake(lambda h, E: np.linalg.norm(E - h, axis=1).argmin() + 1, "You count rows from 1. Ids start at 0."),
        Mistake(
            lambda h, E: np.linalg.norm(E - h, axis=0).argmin(),
            "You add up over the rows (axis 0). Each row needs its own distance: axis 1.",
        ),
        Mistake(
            lambda h, E: (E - h).sum(axis=1).argmin(),
            "You add up the differences with their signs, so that they cancel. Square them first.",
        ),
        Mistake(
            lambda h, E: np.abs(E - h).sum(axis=1).argmin(),
            "You add up absolute differences. The (Euclidean) distance adds up squares.",
        ),
        Mistake(
            lambda h, E: np.abs(np.linalg.norm(E, axis=1) - np.linalg.norm(h)).argmin(),
            "You compare lengths. Vectors of equal length can point anywhere: take the norm of the difference.",
        ),
    ],
)


def nearest_row(yours: Function) -> None:
    r"""Chapter 1, `nearest_row(h, E) -> id`: the row of E at the smallest distance, $\arg\min_i \lVert E_i - h \rVert$.

    h is `[d_model]`, E `[vocab, d_model]`, the id an integer from 0.

    >>> nearest_row(lambda h, E: (E @ h).argmax())
    Not yet: rows of different lengths (case 2 of 9).
      input     h = [0.3, -0.3], E = [[1.0, -1.0], [1.3, -2.8], [3.3, -0.4], [1.1, 1.6], [0.5, 0.4]]
      got       1
      expected  4
      Looks like: You take the largest dot product: that is the highest logit of a tied head. The
      nearest row is another.
    >>> nearest_row(lambda h, E: ((E - h) ** 2).sum(axis=1).argmin())
    Right: all 9 cases pass.
    """
    run(yours, NEAREST_ROW)


SCORES = Exercise(
    right=unembed,
    kinds=[
        Kind(
            "one position",
            "One logit a token: h @ W_U, plus b.",
            [(draw(seed, 2), draw(seed + 50, 2, 3), draw(seed + 60, 3)) for seed in (1, 2)],
        ),
        Kind(
            "h = 0",
            "With h = 0 the product is 0: the logits are the bias.",
            [(np.zeros(2), draw(3, 2, 3), draw(4, 3))],
        ),
        Kind(
            "several positions",
            "Each position gets a row of logits: [positions, d_model] @ [d_model, vocab] + [vocab].",
            [(draw(5, 2, 3), draw(6, 3, 4), draw(7, 4)), (draw(8, 4, 2), draw(9, 2, 3), draw(10, 3))],
        ),
        Kind(
            "as many positions as tokens",
            "The logits are square here. The bias belongs to the tokens, the last axis.",
            [(draw(seed, 3, 2), draw(seed + 1, 2, 3), draw(seed + 2, 3)) for seed in (11, 14)],
        ),
        Kind(
            "a batch of sequences",
            "Leading axes stay as they are: [batch, positions, d_model] gives [batch, positions, vocab].",
            [(draw(17, 2, 3, 2), draw(18, 2, 5), draw(19, 5))],
        ),
    ],
    mistakes=[
        Mistake(lambda h, W_U, b: h @ W_U, "You leave the bias out. Add b, one number a token."),
        Mistake(
            lambda h, W_U, b: h @ W_U + b[:, None],
            "You add the bias along the wrong axis. b belongs to the tokens, the last axis: plain + b.",
        ),
        Mistake(lambda h, W_U, b: h @ W_U - b, "You subtract the bias. The head adds it."),
        Mistake(
            lambda h, W_U, b: (h @ W_U).T + b,
            "Your product is [vocab, positions]. With a position a row it is [positions, vocab]: no transpose.",
        ),
        Mistake(lambda h, W_U, b: W_U.T @ h.T + b, "You multiply W_U.T @ h.T, one position a column. Rows: h @ W_U."),
        Mistake(lambda h, W_U, b: (h + b) @ W_U, "You add b to h. It is [vocab]: add it to the product."),
        Mistake(
            lambda h, W_U, b: (h @ W_U + b).reshape(-1, b.size)[-1],
            "You score the last position only. Generating needs no more, training does: keep them all.",
        ),
        Mistake(
            lambda h, W_U, b: np.exp(h @ W_U + b) / np.exp(h @ W_U + b).sum(axis=-1, keepdims=True),
            "You return probabilities. The scores are the logits, before softmax.",
        ),
        Mistake(lambda h, W_U, b: h @ W_U + b.sum(), "You add the sum of b to every logit. Each token has its own."),
    ],
)


def scores(yours: Function) -> None:
    r"""Chapter 2, `scores(h, W_U, b) -> logits`: a score for every token, $z = h W_U + b$.

    h is `[..., d_model]`, W_U `[d_model, vocab]`, b `[vocab]`, the logits `[..., vocab]`.

    >>> scores(lambda h, W_U, b: h @ W_U)
    Not yet: one position (case 1 of 8).
      input     h = [0.7, 1.6], W_U = [[-1.2, -1.2, 0.2], [2.5, -0.6, -2.2]], b = [-1.1, -2.1, 2.1]
      got       [3.16, -1.8, -3.38]
      expected  [2.06, -3.9, -1.28]
      Looks like: You leave the bias out. Add b, one number a token.
    >>> scores(lambda h, W_U, b: h @ W_U + b)
    Right: all 8 cases pass.
    """
    run(yours, SCORES)


FROM_LM_HEAD = Exercise(
    right=lambda h, weight: unembed(h, tie(weight)),
    kinds=[
        Kind(
            "one position",
            "lm_head.weight is [vocab, d_model], a token a row: W_U is its transpose.",
            [(draw(1, 2), draw(2, 3, 2)), (draw(3, 3), draw(4, 2, 3))],
        ),
        Kind(
            "several positions",
            "[positions, d_model] @ [d_model, vocab]: the weight has to be transposed, h has not.",
            [(draw(5, 4, 2), draw(6, 3, 2)), (draw(7, 2, 3), draw(8, 4, 3))],
        ),
        Kind(
            "as many positions as tokens",
            "The logits are square here. Rows are positions, columns are tokens.",
            [(draw(seed, 3, 2), draw(seed + 1, 3, 2)) for seed in (9, 11)],
        ),
        Kind(
            "a square weight",
            "vocab = d_model: both ways round run, and one is wrong. Transpose by what an axis means, not by its size.",
            [(draw(13, 3), draw(14, 3, 3)), (draw(15, 2, 3), draw(16, 3, 3))],
        ),
        Kind(
            "a batch of sequences",
            "Leading axes stay as they are. Transpose the weight alone: h.T would turn all axes of h round.",
            [(draw(17, 2, 3, 2), draw(18, 4, 2))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda h, weight: h @ weight,
            "You never transpose. lm_head.weight is [vocab, d_model], a token a row: W_U is weight.T.",
        ),
        Mistake(
            lambda h, weight: h @ (weight if weight.shape[0] == h.shape[-1] else weight.T),
            "You transpose only if the sizes force it. A square weight runs both ways, and this one is wrong.",
        ),
        Mistake(
            lambda h, weight: h @ weight.reshape(weight.shape[::-1]),
            "You reshape where you mean to transpose: reshape keeps the order of the numbers and mixes the tokens up.",
        ),
        Mistake(
            lambda h, weight: weight @ h,
            "weight @ h is right for one position alone. For rows of positions it is h @ weight.T.",
        ),
        Mistake(
            lambda h, weight: weight @ h.T,
            "You give [vocab, positions], a position a column. With a position a row: h @ weight.T.",
        ),
        Mistake(lambda h, weight: h @ weight[::-1].T, "You turn the order of the tokens round. A transpose keeps it."),
        Mistake(
            lambda h, weight: (h @ weight.T).reshape(-1, len(weight))[-1],
            "You score the last position only. Generating needs no more, training does: keep them all.",
        ),
        Mistake(
            lambda h, weight: h @ (weight / np.linalg.norm(weight, axis=1, keepdims=True)).T,
            "You bring the rows to length 1. A logit is a plain dot product, length included.",
        ),
    ],
)


def from_lm_head(yours: Function) -> None:
    r"""Chapter 2, `from_lm_head(h, weight) -> logits`: the same scores, from a head as PyTorch stores it.

    That is $z = h\,\mathrm{weight}^\top$. h is `[..., d_model]`, weight `[vocab, d_model]` as `lm_head.weight` is
    stored, the logits `[..., vocab]`.

    >>> from_lm_head(lambda h, weight: h @ (weight if weight.shape[0] == h.shape[-1] else weight.T))
    Not yet: a square weight (case 7 of 9).
      input     h = [3.7, -6.2, 1.9]
                weight = [[1.4, -2.0, -3.1], [-5.8, -0.7, 2.5], [0.1, 1.0, 2.0]]
      got       [41.33, -1.16, -23.17]
      expected  [11.69, -12.37, -2.03]
      Looks like: You transpose only if the sizes force it. A square weight runs both ways, and this
      one is wrong.
    >>> from_lm_head(lambda h, weight: h @ weight.T)
    Right: all 9 cases pass.
    """
    run(yours, FROM_LM_HEAD)
