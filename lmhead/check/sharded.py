"""Chapter 14: a vocabulary in shards."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, run


def _own_columns(y: Array, first: int, width: int) -> Array:
    return np.where((first <= y) & (y < first + width), y - first, -1)


OWN_COLUMNS = Exercise(
    right=_own_columns,
    kinds=[
        Kind(
            "targets in the shard",
            "Column 0 of a shard is token first: a token's column is its id less first.",
            [(np.array([6, 7, 5, 6]), 4, 5), (np.array([21]), 20, 3), (np.array([3, 1, 2]), 0, 5)],
        ),
        Kind(
            "targets before the shard, or ignored",
            "What lies before first is not in the shard, nor is -100: write -1.",
            [(np.array([0, 2, 1]), 4, 5), (np.array([-100, -100]), 0, 5), (np.array([0, -100, 17]), 20, 3)],
        ),
        Kind(
            "targets behind the shard",
            "The shard ends before first + width. What lies behind it is not in the shard: write -1.",
            [(np.array([10, 12]), 4, 5), (np.array([7, 9, 6]), 0, 5)],
        ),
        Kind(
            "targets at its edges",
            "The first token of the shard is first, the last one first + width - 1.",
            [(np.array([3, 4, 8, 9]), 4, 5), (np.array([0, 4, 5]), 0, 5), (np.array([20, 22, 23, 19]), 20, 3)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda y, first, width: np.where((first <= y) & (y < first + width), y, -1),
            "You return ids of the whole vocabulary. A column counts from the shard's first token: y - first.",
        ),
        Mistake(
            lambda y, first, width: np.where((y >= 0) & (y < width), y, -1),
            "You look for ids from 0 to width - 1, as if every shard began at token 0. This one begins at first.",
        ),
        Mistake(
            lambda y, first, width: np.where((first <= y) & (y < first + width), y - first, 0),
            "You write 0 where the target is elsewhere. Column 0 is a token of the shard: write -1.",
        ),
        Mistake(
            lambda y, first, width: np.where((first <= y) & (y < first + width), y - first, -100),
            "You write -100 where the target is elsewhere. Asked is -1.",
        ),
        Mistake(
            lambda y, first, width: np.where((first <= y) & (y <= first + width), y - first, -1),
            "Your shard is a token too wide: first + width belongs to the next one.",
        ),
        Mistake(
            lambda y, first, width: np.where((first < y) & (y < first + width), y - first, -1),
            "Your shard leaves out its first token: first <= y.",
        ),
        Mistake(
            lambda y, first, width: np.where(y < first + width, y - first, -1),
            "You ask only for the end of the shard. What lies before first is elsewhere too.",
        ),
        Mistake(
            lambda y, first, width: np.where(y >= first, y - first, -1),
            "You ask only for the beginning of the shard. It ends before first + width.",
        ),
        Mistake(
            lambda y, first, width: np.clip(y - first, 0, width - 1),
            "You move every target to the nearest column. One that is elsewhere has none: write -1.",
        ),
        Mistake(
            lambda y, first, width: y % width,
            "You take the remainder by width. That finds a column for every target, and shards may differ in width.",
        ),
        Mistake(
            lambda y, first, width: y - first,
            "You shift every target. Those outside 0 to width - 1 are in another shard: write -1.",
        ),
        Mistake(
            lambda y, first, width: ((first <= y) & (y < first + width)).astype(int),
            "You say whether the target is in the shard. Asked is in which column.",
        ),
    ],
)


def own_columns(yours: Function) -> None:
    """Chapter 14, `own_columns(y, first, width) -> [N]`: where a shard holds the targets, -1 where it does not.

    The shard holds the tokens first to first + width - 1. y is `[N]`, ids of the whole vocabulary, or -100.

    >>> own_columns(lambda y, first, width: np.where(y >= first, y - first, -1))
    Not yet: targets behind the shard (case 7 of 11).
      input     y = [10, 12], first = 4, width = 5
      got       [6, 8]
      expected  [-1, -1]
      Looks like: You ask only for the beginning of the shard. It ends before first + width.
    >>> own_columns(lambda y, first, width: np.where((first <= y) & (y < first + width), y - first, -1))
    Right: all 11 cases pass.
    """
    run(yours, OWN_COLUMNS)


def _sharded_loss(top: Array, rest: Array, z_y: Array) -> Array:
    m, k = top.max(axis=0), top.argmax(axis=0)
    weight = (1 + rest) * np.exp(top - m)
    n = np.arange(len(m))
    weight[k, n] = rest[k, n]  # without the largest logit's own 1
    return (m - np.nanmax(z_y, axis=0)) + np.log1p(weight.sum(axis=0))


def _lse(top: Array, rest: Array) -> Array:
    return top + np.log1p(rest)


def _S(top: Array, rest: Array) -> Array:
    return ((1 + rest) * np.exp(top - top.max(axis=0))).sum(axis=0)


_NO = np.nan

SHARDED_LOSS = Exercise(
    right=_sharded_loss,
    kinds=[
        Kind(
            "a few shards",
            "Let m be the largest top. A shard's whole sum is 1 + rest, in units of its own top: times exp(top - m).",
            [
                (
                    np.array([[2.0, 0.5], [1.0, 1.5]]),
                    np.array([[0.3, 0.7], [0.5, 0.2]]),
                    np.array([[1.1, _NO], [_NO, 1.5]]),
                ),
                (np.array([[0.5], [1.0], [-0.5]]), np.array([[0.4], [0.0], [1.2]]), np.array([[_NO], [_NO], [-1.0]])),
                (np.array([[1.0], [1.0]]), np.array([[0.25], [0.5]]), np.array([[1.0], [_NO]])),
            ],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the largest top go into exp.",
            [
                (np.array([[1000.0], [900.0]]), np.array([[0.5], [0.2]]), np.array([[_NO], [899.0]])),
                (np.array([[-900.0], [-1000.0]]), np.array([[0.5], [0.2]]), np.array([[-901.0], [_NO]])),
            ],
        ),
        Kind(
            "a shard that is masked",
            "A shard whose tokens are all masked sends top -inf and rest 0: it adds nothing, exp(-inf) is 0.",
            [
                (np.array([[1.0], [-np.inf]]), np.array([[0.5], [0.0]]), np.array([[0.25], [_NO]])),
                (np.array([[-np.inf], [-2.0]]), np.array([[0.0], [0.75]]), np.array([[_NO], [-2.0]])),
            ],
        ),
        Kind(
            "a sure target",
            "Leave the largest logit's own 1 out of the sum R, and take (m - z_y) + log1p(R): R is lost next to a 1.",
            [
                (np.array([[60.0], [0.0]]), np.array([[1e-20], [1.0]]), np.array([[60.0], [_NO]])),
                (np.array([[-50.0], [3.0]]), np.array([[0.5], [1e-17]]), np.array([[_NO], [3.0]])),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            lambda top, rest, z_y: top.max(axis=0) + np.log(_S(top, rest)) - np.nanmax(z_y, axis=0),
            "Right on paper. R is lost next to the 1: leave the largest logit's own 1 out, and take log1p.",
        ),
        Mistake(
            lambda top, rest, z_y: (
                top.max(axis=0) - np.nanmax(z_y, axis=0) + np.log1p((rest * np.exp(top - top.max(axis=0))).sum(axis=0))
            ),
            "You forget the other shards' largest logits: a shard's whole sum is 1 + rest.",
        ),
        Mistake(
            lambda top, rest, z_y: top.max(axis=0) + np.log((1 + rest).sum(axis=0)) - np.nanmax(z_y, axis=0),
            "You add sums that count from different tops. Bring each to the largest: times exp(top - m).",
        ),
        Mistake(
            lambda top, rest, z_y: np.log((np.exp(top) * (1 + rest)).sum(axis=0)) - np.nanmax(z_y, axis=0),
            "exp(top) overflows, or underflows to log 0. Put only differences to the largest top into exp.",
        ),
        Mistake(
            lambda top, rest, z_y: _lse(top, rest).mean(axis=0) - np.nanmax(z_y, axis=0),
            "You average the shards' log-sum-exps. Their sums of exp add up.",
        ),
        Mistake(
            lambda top, rest, z_y: _lse(top, rest).sum(axis=0) - np.nanmax(z_y, axis=0),
            "You add the shards' log-sum-exps. Their sums of exp add up, not the logarithms.",
        ),
        Mistake(
            lambda top, rest, z_y: _sharded_loss(top, rest, z_y) + np.nanmax(z_y, axis=0) - z_y.sum(axis=0),
            "nan plus a number is nan. z_y stands in one shard alone: take np.nanmax or np.nansum over the shards.",
        ),
        Mistake(
            lambda top, rest, z_y: np.nanmax(_lse(top, rest) - z_y, axis=0),
            "You take the loss of the shard that holds the target. The other shards compete for the same probability.",
        ),
        Mistake(
            lambda top, rest, z_y: (
                top.max(axis=0)
                - np.nanmax(z_y, axis=0)
                + np.log1p(np.take_along_axis(rest, top.argmax(axis=0)[None], 0)[0])
            ),
            "You keep the shard with the largest top. The other shards' tokens count too.",
        ),
        Mistake(
            lambda top, rest, z_y: top.max(axis=0) - np.nanmax(z_y, axis=0) + np.log1p(_S(top, rest)),
            "You count the largest logit twice: log1p brings its 1, so leave it out of the sum.",
        ),
        Mistake(
            lambda top, rest, z_y: -_sharded_loss(top, rest, z_y),
            "You lost a sign: the loss is log-sum-exp minus z_y.",
        ),
    ],
    atol=0.0,
)


def sharded_loss(yours: Function) -> None:
    r"""Chapter 14, `sharded_loss(top, rest, z_y) -> [N]`: each position's loss, from what the shards sent.

    All three are `[shards, N]`: the largest logit of each shard, the sum of its other $e^{z_j - top}$, and the target's
    logit, nan in the shards that do not hold it. With m the largest top, $L = (m - z_y) + \log(1 + R)$, and R all
    exponentials $e^{z_j - m}$ but the largest's own 1.

    >>> sharded_loss(lambda top, rest, z_y: (top + np.log1p(rest)).mean(axis=0) - np.nanmax(z_y, axis=0))
    Not yet: a few shards (case 1 of 9).
      input     top = [[2.0, 0.5], [1.0, 1.5]]
                rest = [[0.3, 0.7], [0.5, 0.2]]
                z_y = [[1.1, nan], [nan, 1.5]]
      got       [0.7339, -0.1435]
      expected  [1.5162, 0.6018]
      Looks like: You average the shards' log-sum-exps. Their sums of exp add up.
    >>> def merged(top, rest, z_y):
    ...     k, n = top.argmax(axis=0), np.arange(top.shape[1])
    ...     weight = (1 + rest) * np.exp(top - top[k, n])
    ...     weight[k, n] = rest[k, n]
    ...     return (top[k, n] - np.nanmax(z_y, axis=0)) + np.log1p(weight.sum(axis=0))
    >>> sharded_loss(merged)
    Right: all 9 cases pass.
    """
    run(yours, SHARDED_LOSS)
