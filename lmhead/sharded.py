r"""The loss and its gradients of a vocabulary in shards: what each shard computes alone, and what the others must hear.

A shard holds some columns of W_U and sees every position. What it sees is its **message** `[3, N]` in float64, three
numbers for each position, whatever the size of the vocabulary:

    top  = z_k, the largest of the shard's logits
    rest = sum over its other tokens j of exp(z_j - z_k)          both as `lmhead.streaming` has them
    z_y  = the target's logit; NaN where the target lies in another shard

Messages come together as states merge; z_y comes from the one shard that has it. What has come together is a message
again, that of all tokens. From it each shard knows the loss, and makes the gradient G of its own logits:

    L   = (top - z_y) + log1p(rest)
    G_j = p_j = exp(z_j - top) / (1 + rest)             for j != y
    G_y = p_y - 1 = exp(-L) - 1
    dh  = sum over the shards of G W^T                  dW = h^T G and db = sum over the rows of G stay with their shard

No engine is in here; `beyond/several_machines` runs these four functions on Dask and over MPI. A shard whose logits are
too many at once is cut in smaller ones, whose messages come together before one is sent.

Source: the head's columns on several devices, Shoeybi et al. (2019), "Megatron-LM".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead import _arguments as arguments
from lmhead._arguments import Array, Reduction, quietly
from lmhead.head import unembed
from lmhead.loss import HeadGrads, reduced
from lmhead.streaming import LogSumExp, merge_all, summarize, targets_in

__all__ = ["Shard", "backward", "forward", "loss", "together"]


class Shard(NamedTuple):
    """Neighbouring columns of a head of `vocab_size` tokens, from token `first` on."""

    W: ArrayLike  # [d_model, width]
    first: int
    vocab_size: int
    b: ArrayLike | None = None  # [width]; -inf masks a token, and all of a shard's may be masked


@quietly
def forward(h: ArrayLike, shard: Shard, targets: ArrayLike, *, ignore_index: int = -100) -> Array:
    """What one shard sees: its message `[3, N]`, float64.

    Args:
      h: hidden states `[..., d_model]` of N positions; every shard is given all of them.
      shard: its columns, and which they are.
      targets: `[...]`, token ids of the whole vocabulary.
      ignore_index: positions with this target are not looked at, whatever their h holds.

    Raises:
      As `unembed` and `cross_entropy`. Of a logit that is NaN or +inf the position is counted from 0 to N - 1, and the
      token from the shard's first.

    >>> h, W_U = [[1.0, 2.0]], np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    >>> forward(h, Shard(W_U[:, :2], 0, 3), [2]).round(4).tolist()
    [[2.0], [0.3679], [nan]]
    >>> forward(h, Shard(W_U[:, 2:], 2, 3), [2]).round(4).tolist()
    [[1.5], [0.0], [1.5]]
    """
    _, z, _, here, column = _score(h, shard, targets, ignore_index)
    z_y = np.full(len(z), np.nan)
    z_y[here] = z[here, column]
    return np.stack([*summarize(z), z_y])


def together(messages: Iterable[ArrayLike]) -> Array:
    """One message `[3, N]` out of those of all shards, or of some of them: in any order, in one step or in several.

    Raises:
      ValueError: no messages, or of different sizes; a target that lies in several shards. Other tokens that shards
        have in common are not noticed, and count more than once.

    >>> together([[[2.0], [0.3679], [np.nan]], [[1.5], [0.0], [1.5]]]).round(4).tolist()
    [[2.0], [0.9744], [1.5]]
    """
    parts = [_as_message(message) for message in messages]
    state = merge_all(LogSumExp(top, rest) for top, rest, _ in parts)
    z_y = np.stack([part[2] for part in parts])
    for n in np.flatnonzero((~np.isnan(z_y)).sum(axis=0) > 1)[:1]:
        raise ValueError(f"several shards hold the target of position {n}; each token may be in one alone")
    return np.stack([*state, np.fmax.reduce(z_y)])


@quietly
def loss(message: ArrayLike, targets: ArrayLike, *, ignore_index: int = -100, reduction: Reduction = "mean") -> Array:
    """The cross-entropy, as `lmhead.cross_entropy` has it of all logits; in nats, float64.

    Args:
      message: `[3, N]`, of all shards together.
      targets: `[...]`, N of them, as `forward` was given them.
      ignore_index: as for `forward`.
      reduction: "mean", "sum" or "none" (`[...]`, 0 where ignored).

    Raises:
      As `cross_entropy`. ValueError: a target that no shard holds.

    >>> float(loss([[2.0], [0.9744], [1.5]], [2]).round(4))
    1.1803
    """
    arguments.require_reduction(reduction)
    y = arguments.as_targets(targets, np.shape(targets), 2**62, ignore_index)  # `forward` knew the vocabulary's size
    top, rest, z_y = _as_message(message, np.size(targets))[:, y.positions]
    for n in np.flatnonzero(np.isneginf(top) | np.isnan(z_y))[:1]:
        what = "all its logits are -inf" if np.isneginf(top[n]) else f"no shard holds its target {y.ids[n]}"
        raise ValueError(f"position {y.positions[n]}: {what}; is a shard missing?")
    losses = (top - z_y) + np.log1p(rest)
    return y.in_place(losses)[()] if reduction == "none" else reduced(losses, y, reduction)


@quietly
def backward(h: ArrayLike, shard: Shard, targets: ArrayLike, message: Array, *, ignore_index: int = -100) -> HeadGrads:
    """What one shard pushes back, of the mean loss: a **part** of dh, to be added up over the shards; its own dW, db.

    Args:
      h: `[..., d_model]`, as for `forward`, and so are `shard`, `targets` and `ignore_index`.
      shard: its columns.
      targets: `[...]`.
      message: `[3, N]`, of all shards together.
      ignore_index: positions with this target push nothing.

    Returns:
      `HeadGrads(h, W_U, b)`: `[..., d_model]`, and the gradients of the shard's own columns, each as large as they are.

    Raises:
      As `forward` and `loss`.

    >>> h, W_U = [[1.0, 2.0]], np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    >>> shards = Shard(W_U[:, :2], 0, 3), Shard(W_U[:, 2:], 2, 3)
    >>> message = together(forward(h, shard, [2]) for shard in shards)
    >>> [backward(h, shard, [2], message).h.round(4).tolist() for shard in shards]
    [[[0.1863, 0.5065]], [[-0.3464, -0.3464]]]
    """
    rows, z, y, here, column = _score(h, shard, targets, ignore_index)
    losses = loss(message, targets, ignore_index=ignore_index, reduction="none").ravel()
    top, rest, _ = _as_message(message)[:, :, None]
    G = np.exp(z - top) / (1.0 + rest)
    G[here, column] = np.expm1(-losses[here])
    G = y.in_place(G[y.positions] / y.divisor("mean")).reshape(z.shape).astype(z.dtype)
    dh, db = G @ np.asarray(shard.W, z.dtype).T, G.sum(axis=0, dtype=np.float64).astype(z.dtype)
    return HeadGrads(dh.reshape(np.shape(h)), rows.T @ G, None if shard.b is None else db)


def _score(h: ArrayLike, shard: Shard, targets: ArrayLike, ignore_index: int) -> tuple[Any, ...]:
    """All positions' h, 0 where ignored, and logits; the targets; at which positions the shard holds them, where."""
    h, W, b = arguments.as_head(h, shard.W, shard.b)
    y = arguments.as_targets(targets, h.shape[:-1], shard.vocab_size, ignore_index)
    here, column = targets_in(y.ids - arguments.as_int(shard.first, "first"), slice(0, W.shape[1]))
    rows = y.in_place(h.reshape(-1, len(W))[y.positions]).reshape(-1, len(W))
    return rows, unembed(rows, W, b), y, y.positions[here], column


def _as_message(message: ArrayLike, n: int | None = None) -> Array:
    array = arguments.as_floats(message, "a message")
    if array.ndim != 2 or len(array) != 3 or array.shape[1] != (n or array.shape[1]):
        raise ValueError(f"a message must be [3, {n or 'N'}], three numbers for each position; got {array.shape}")
    return array
