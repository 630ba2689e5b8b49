"""Cross-entropy, its gradients, and the units that a loss is reported in. Everything is in nats unless it says bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import (
    Array,
    as_floats,
    as_ids,
    as_int,
    as_logits,
    as_number,
    as_targets,
    mean_count,
    quietly,
    reject_bad_rows,
    require_reduction,
)
from lmhead.head import unembed
from lmhead.probabilities import decompose


@quietly
def cross_entropy(logits: ArrayLike, targets: ArrayLike, *, ignore_index: int = -100, reduction: str = "mean") -> Array:
    r"""The cost of the right answer: $L = -\log p_y = \log\sum_j e^{z_j} - z_y$, in nats.

    Computed as $(z_k - z_y) + \mathrm{log1p}(\sum_{j \ne k} e^{z_j - z_k})$ with k the largest logit, so that a loss of
    1e-30 is right to its last digits where `logsumexp - z_y` returns 0.

    Args:
      logits: `[..., vocab]`, float32 or float64 (float16 is computed in float32, integers in float64).
      targets: token ids `[...]` of any integer type.
      ignore_index: positions with this target cost nothing and are not counted; whatever their logits hold.
      reduction: "mean" over the positions that count, "sum", or "none" (`[...]`, 0 where ignored).

    Returns:
      A scalar, or `[...]` for "none", in the logits' precision; sums are carried in float64. inf if the target's own
      logit is -inf.

    Raises:
      IndexError: a target outside the vocabulary (position, value and range are named).
      TypeError: float or bool targets.
      ValueError: shapes that do not fit; NaN, +inf or -inf everywhere in a row that counts; a mean over no position.

    Source: the semantics are those of `torch.nn.functional.cross_entropy`, less its silent NaN.

    >>> logits = [[2.0, 1.0, 0.1], [0.0, 3.0, 0.5]]
    >>> cross_entropy(logits, [0, 2], reduction="none").round(4).tolist()
    [0.417, 2.6239]
    >>> float(cross_entropy(logits, [0, 2]).round(4))
    1.5205
    """
    require_reduction(reduction)
    z, lead, positions, targets = _counted_rows(logits, targets, ignore_index)
    losses = np.empty(len(z))
    for block, row in decompose(z):
        y = targets[block]
        n = np.arange(len(y))
        losses[block] = np.log1p(row.rest) - row.gap[n, y]
    if reduction == "none":
        every = np.zeros(lead, z.dtype)
        every.reshape(-1)[positions] = losses
        return every[()]
    return reduced(losses, reduction, z.dtype, math.prod(lead), ignore_index)


@quietly
def cross_entropy_grad(
    logits: ArrayLike, targets: ArrayLike, *, ignore_index: int = -100, reduction: str = "mean"
) -> Array:
    r"""The gradient of `cross_entropy` with respect to the logits: $\partial L / \partial z_j = p_j - [j = y]$.

    Where the target is the largest logit its entry is $-\sum_{j \ne y} p_j$, which keeps its digits as $p_y$ nears 1.

    Arguments and errors as for `cross_entropy`. "mean" divides by the number of positions that count; "sum" and "none"
    give each position's own gradient.

    Returns:
      An array of the shape of `logits`, 0 in ignored rows; each row sums to 0.

    >>> cross_entropy_grad([2.0, 1.0, 0.1], 2).round(4).tolist()
    [0.659, 0.2424, -0.9014]
    """
    require_reduction(reduction)
    z, lead, positions, targets = _counted_rows(logits, targets, ignore_index)
    scale = mean_count(len(z), math.prod(lead), ignore_index) if reduction == "mean" else 1
    grad = np.zeros((math.prod(lead), z.shape[1]), z.dtype)
    for block, row in decompose(z):
        y = targets[block]
        n = np.arange(len(y))
        total = (1.0 + row.rest)[:, None]
        p = row.weight / total
        p[n, row.winner] = 1.0 / total[:, 0]
        p[n, y] = np.where(y == row.winner, -row.rest / total[:, 0], p[n, y] - 1.0)
        grad[positions[block]] = p / scale
    return grad.reshape(*lead, z.shape[1])


class HeadGrads(NamedTuple):
    """Gradients of the loss with respect to what the head multiplies; `b` is None for a head without a bias."""

    h: Array
    W_U: Array
    b: Array | None


@quietly
def head_grads(
    h: ArrayLike,
    W_U: ArrayLike,
    targets: ArrayLike,
    *,
    b: ArrayLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> HeadGrads:
    r"""Gradients of the loss of `unembed(h, W_U, b)` with respect to h, W_U and b.

    With $G = \partial L/\partial z$ as `cross_entropy_grad` gives it: $dh = G W_U^\top$, $dW_U = h^\top G$, and
    $db = \sum_n G_n$.

    Args:
      h: `[..., d_model]`.
      W_U: `[d_model, vocab]`.
      targets: token ids `[...]`.
      b: `[vocab]` or None.
      ignore_index: as for `cross_entropy`; an ignored position's h is not looked at, whatever it holds.
      reduction: "mean" or "sum".

    Returns:
      `HeadGrads(h, W_U, b)`, each of the shape of its argument.

    Raises:
      As `unembed` and `cross_entropy`.

    >>> grads = head_grads([[1.0, 2.0]], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], [1])
    >>> grads.h.round(4).tolist()
    [[0.3399, -0.3399]]
    """
    require_reduction(reduction, ("mean", "sum"))
    h, W_U = as_floats(h, "h"), as_floats(W_U, "W_U")
    grad = cross_entropy_grad(unembed(h, W_U, b), targets, ignore_index=ignore_index, reduction=reduction)
    counts = (np.asarray(targets) != ignore_index).ravel()
    G = grad.reshape(-1, grad.shape[-1])[counts]
    dh = np.zeros(h.shape, grad.dtype)
    dh.reshape(-1, h.shape[-1])[counts] = G @ W_U.T
    return HeadGrads(dh, h.reshape(-1, h.shape[-1])[counts].T @ G, None if b is None else G.sum(axis=0))


def tied_grad(ids: ArrayLike, dx: ArrayLike, dW_U: ArrayLike) -> Array:
    r"""The gradient of a tied embedding, which is used twice: $dE = \sum_t \mathrm{onehot}(ids_t)\, dx_t + dW_U^\top$.

    Args:
      ids: the input tokens `[...]`, whose rows of E were read.
      dx: the gradient with respect to the rows read, `[..., d_model]`: what came back through the body.
      dW_U: the gradient of the head, `[d_model, vocab]`, as `head_grads` gives it.

    Returns:
      dE `[vocab, d_model]`. A token that stands twice in `ids` is added twice.

    Raises:
      IndexError: an id outside the vocabulary.  TypeError: ids that are not integers.  ValueError: shapes.

    >>> tied_grad([2, 0, 2], [[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [[10.0, 20.0, 30.0], [0.0, 0.0, 0.0]]).tolist()
    [[10.0, 1.0], [20.0, 0.0], [34.0, 0.0]]
    """
    dx, dW_U = as_floats(dx, "dx"), as_floats(dW_U, "dW_U")
    if dW_U.ndim != 2:
        raise ValueError(f"dW_U must be [d_model, vocab]; got shape {dW_U.shape}")
    d_model, vocab_size = dW_U.shape
    if dx.ndim == 0 or dx.shape[-1] != d_model:
        said = f"dx must be [..., d_model] with d_model {d_model} as in dW_U {dW_U.shape}; got {dx.shape}"
        turned = dx.ndim and dx.shape[-1] == vocab_size
        raise ValueError(f"{said}: dW_U looks transposed, pass dW_U.T" if turned else said)
    ids = as_ids(ids, "ids")
    if ids.shape != dx.shape[:-1]:
        raise ValueError(f"ids must have the shape of dx less d_model; dx {dx.shape}, ids {ids.shape}")
    _require_token_ids(ids, vocab_size)
    dE = dW_U.T.astype(np.result_type(dx, dW_U))
    np.add.at(dE, ids.ravel().astype(np.int64), dx.reshape(-1, d_model))
    return dE


def shift_targets(ids: ArrayLike, mask: ArrayLike | None = None, *, ignore_index: int = -100) -> Array:
    r"""What each position has to predict: the token after it, $y_t = ids_{t+1}$.

    Args:
      ids: token ids `[..., positions]`.
      mask: bool `[..., positions]`, True at the tokens that are to be predicted (the answer of a chat, not its prompt
        and not its padding); None takes all.
      ignore_index: what stands at the last position, which has nothing to predict, and before tokens not in `mask`. An
        id equal to it is not predicted either: so a padding id can be left out.

    Returns:
      Targets of the shape of `ids`, int64: no logit has to be cut off.

    Raises:
      TypeError: ids that are not integers; a mask that is not bool.  ValueError: a mask of another shape.
      IndexError: an id below 0: `ids` are tokens, not targets.

    >>> shift_targets([5, 6, 7, 8], [False, False, True, True]).tolist()
    [-100, 7, 8, -100]
    """
    ids = as_ids(ids, "ids")
    if ids.ndim == 0:
        raise ValueError("ids must be [..., positions]; got a single id")
    _require_token_ids(ids, 2**63)
    targets = np.full(ids.shape, as_int(ignore_index, "ignore_index"), np.int64)
    targets[..., :-1] = ids[..., 1:]
    if mask is None:
        return targets
    wanted = np.asarray(mask)
    if wanted.dtype != bool:
        raise TypeError(f"mask must be bool, True at the tokens to predict; got {wanted.dtype} (mask == 1 makes one)")
    if wanted.shape != ids.shape:
        raise ValueError(f"mask must have the shape of ids; ids {ids.shape}, mask {wanted.shape}")
    targets[..., :-1][~wanted[..., 1:]] = ignore_index
    return targets


@quietly
def perplexity(loss: ArrayLike) -> Array:
    r"""How many equally likely tokens a mean loss is worth: $\mathrm{PPL} = e^{L}$, L in nats a token.

    inf from L = 709.79 on, where float64 ends. A negative loss or NaN is a `ValueError`.

    >>> float(perplexity(1.5197).round(4))
    4.5709
    """
    nats = as_floats(loss, "loss").astype(np.float64)
    _as_nats(float(nats.min(initial=0.0)))  # NaN where one of them is
    return np.exp(nats)[()]


def bits_per_byte(nats: float, n_bytes: int) -> float:
    r"""Bits a byte of text costs: $\mathrm{BPB} = \sum_t L_t / (n_\mathrm{bytes} \log 2)$, comparable over tokenizers.

    Args:
      nats: the **sum** of the losses over the text.
      n_bytes: the length of the text that was scored, in UTF-8 bytes.

    Raises:
      ValueError: a sum below 0 or NaN, an array instead of its sum, no bytes.

    >>> round(bits_per_byte(264.34, 379), 4)
    1.0062
    """
    if np.ndim(nats):
        raise ValueError(f"nats must be the summed loss, one number; got shape {np.shape(nats)}: pass losses.sum()")
    nats = _as_nats(as_number(nats, "nats"))
    if as_int(n_bytes, "n_bytes") <= 0:
        raise ValueError(f"n_bytes must be above 0; got {n_bytes}")
    return float(nats / (n_bytes * np.log(2.0)))


def reduced(losses: Array, reduction: str, dtype: np.dtype[Any], n_positions: int, ignore_index: int) -> Array:
    """The sum or the mean of the float64 losses that count, in the precision of the logits."""
    total = losses.sum()
    if reduction == "mean":
        count = mean_count(len(losses), n_positions, ignore_index)
        total = total / count if np.isfinite(total) else (losses / count).sum()  # a sum may overflow, its mean need not
    return dtype.type(total)


def _as_nats(nats: float) -> float:
    """Refuse what no loss can be."""
    if math.isnan(nats):
        raise ValueError("the loss is NaN: the numbers before it went wrong")
    if nats < 0:
        raise ValueError(f"a cross-entropy is never below 0 nats; got {nats}: was a sign lost?")
    return nats


def _counted_rows(
    logits: ArrayLike, targets: ArrayLike, ignore_index: int
) -> tuple[Array, tuple[int, ...], Array, Array]:
    """The rows `[n_valid, vocab]` that count, the shape they stood in, their positions in it, and their targets."""
    z = as_logits(logits)
    lead, vocab_size = z.shape[:-1], z.shape[-1]
    positions, ids = as_targets(targets, lead, vocab_size, ignore_index)
    rows = z.reshape(-1, vocab_size)
    if len(positions) < len(rows):
        rows = rows[positions]
    reject_bad_rows(rows, lead, positions)
    return rows, lead, positions, ids


def _require_token_ids(ids: Array, vocab_size: int) -> None:
    """Refuse ids that name no token; here no value stands for "ignore"."""
    if not ids.size:
        return
    for wrong in (int(ids.min()), int(ids.max())):
        if not 0 <= wrong < vocab_size:
            raise IndexError(f"ids hold {wrong}; token ids go from 0 to {vocab_size - 1}")
