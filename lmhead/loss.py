"""Cross-entropy, its gradients, and the units that a loss is reported in. Everything is in nats unless it says bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead import _arguments as arguments
from lmhead._arguments import Array, Reduction, Targets, quietly
from lmhead._exact import sum_of_products
from lmhead.probabilities import decompose


@quietly
def cross_entropy(
    logits: ArrayLike, targets: ArrayLike, *, ignore_index: int = -100, reduction: Reduction = "mean"
) -> Array:
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
    arguments.require_reduction(reduction)
    z, y = _rows_that_count(logits, targets, ignore_index)
    losses = np.empty(len(z))
    for block, row in decompose(z):
        n = np.arange(len(row.rest))
        losses[block] = np.log1p(row.rest) - row.gap[n, y.ids[block]]
    if reduction == "none":
        return y.in_place(losses.astype(z.dtype))[()]
    return z.dtype.type(reduced(losses, y, reduction))


@quietly
def cross_entropy_grad(
    logits: ArrayLike, targets: ArrayLike, *, ignore_index: int = -100, reduction: Reduction = "mean"
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
    arguments.require_reduction(reduction)
    z, y = _rows_that_count(logits, targets, ignore_index)
    return y.in_place(_gradient(z, y.ids, y.divisor(reduction)))


def _gradient(z: Array, targets: Array, divisor: int) -> Array:
    """P - onehot(y) for each row of `z` `[n, vocab]`, divided by `divisor`."""
    grad = np.empty_like(z)
    for block, row in decompose(z):
        y = targets[block]
        n = np.arange(len(y))
        total = (1.0 + row.rest)[:, None]
        p = row.weight / total
        p[n, row.winner] = 1.0 / total[:, 0]
        p[n, y] = np.where(y == row.winner, -row.rest / total[:, 0], p[n, y] - 1.0)
        grad[block] = p / divisor
    return grad


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
    reduction: Reduction = "mean",
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
    arguments.require_reduction(reduction, ("mean", "sum"))
    h, W_U, b = arguments.as_head(h, W_U, b)
    y = arguments.as_targets(targets, h.shape[:-1], W_U.shape[1], ignore_index)
    rows = h.reshape(-1, h.shape[-1])[y.positions]
    W_U = W_U.astype(h.dtype, copy=False)
    z = rows @ W_U if b is None else rows @ W_U + b
    arguments.reject_bad_rows(z, y.lead, y.positions)
    G = _gradient(z, y.ids, y.divisor(reduction))
    dh, dW_U = np.empty_like(rows), np.empty_like(W_U)
    sum_of_products(G.T, W_U.T, out=dh)
    sum_of_products(rows, G, out=dW_U)
    return HeadGrads(y.in_place(dh), dW_U, None if b is None else G.sum(axis=0, dtype=np.float64).astype(b.dtype))


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
    dx, dW_U = arguments.as_floats(dx, "dx"), arguments.as_floats(dW_U, "dW_U")
    if dW_U.ndim != 2:
        raise ValueError(f"dW_U must be [d_model, vocab]; got shape {dW_U.shape}")
    d_model, vocab_size = dW_U.shape
    if dx.ndim == 0 or dx.shape[-1] != d_model:
        said = f"dx must be [..., d_model] with d_model {d_model} as in dW_U {dW_U.shape}; got {dx.shape}"
        turned = dx.ndim and dx.shape[-1] == vocab_size
        raise ValueError(f"{said}: dW_U looks transposed, pass dW_U.T" if turned else said)
    ids = _as_tokens(ids, vocab_size)
    if ids.shape != dx.shape[:-1]:
        raise ValueError(f"ids must have the shape of dx less d_model; dx {dx.shape}, ids {ids.shape}")
    dE = dW_U.T.astype(np.result_type(dx, dW_U))
    ids, rows = ids.ravel(), dx.reshape(-1, d_model)
    order = np.argsort(ids, kind="stable")
    read, first, times = np.unique(ids[order], return_index=True, return_counts=True)
    once = times == 1
    dE[read[once]] += rows[order[first[once]]]
    for token, start, n in zip(read[~once], first[~once], times[~once], strict=True):
        dE[token] += rows[order[start : start + n]].sum(axis=0, dtype=np.float64)
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
    ids = _as_tokens(ids, 2**63)
    if ids.ndim == 0:
        raise ValueError("ids must be [..., positions]; got a single id")
    ignored = arguments.as_int(ignore_index, "ignore_index")
    targets = np.full(ids.shape, ignored, np.int64)
    targets[..., :-1] = ids[..., 1:]
    if mask is None:
        return targets
    wanted = arguments.as_array(mask, "mask")
    if wanted.dtype != bool:
        raise TypeError(f"mask must be bool, True at the tokens to predict; got {wanted.dtype} (mask == 1 makes one)")
    if wanted.shape != ids.shape:
        raise ValueError(f"mask must have the shape of ids; ids {ids.shape}, mask {wanted.shape}")
    targets[..., :-1][~wanted[..., 1:]] = ignored
    return targets


@quietly
def perplexity(loss: ArrayLike) -> Array:
    r"""How many equally likely tokens a mean loss is worth: $\mathrm{PPL} = e^{L}$, L in nats per token.

    inf from L = 709.79 on, where float64 ends. A negative loss or NaN is a `ValueError`.

    >>> float(perplexity(1.5197).round(4))
    4.5709
    """
    nats = arguments.as_floats(loss, "loss").astype(np.float64)
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
    if shape := arguments.as_array(nats, "nats").shape:
        raise ValueError(f"nats must be the summed loss, one number; got shape {shape}: pass losses.sum()")
    total, n = _as_nats(arguments.as_number(nats, "nats")), arguments.as_int(n_bytes, "n_bytes")
    if n <= 0:
        raise ValueError(f"n_bytes must be above 0; got {n}")
    return total / (n * math.log(2.0))


def reduced(losses: Array, targets: Targets, reduction: Reduction) -> Any:
    """The sum or the mean of the float64 losses that count."""
    total, divisor = losses.sum(), targets.divisor(reduction)
    return total / divisor if np.isfinite(total) else (losses / divisor).sum()  # a sum may overflow, its mean need not


def _as_nats(nats: float) -> float:
    """Refuse what no loss can be."""
    if math.isnan(nats):
        raise ValueError("the loss is NaN: the numbers before it went wrong")
    if nats < 0:
        raise ValueError(f"a cross-entropy is never below 0 nats; got {nats}: was a sign lost?")
    return nats


def _rows_that_count(logits: ArrayLike, targets: ArrayLike, ignore_index: int) -> tuple[Array, Targets]:
    """The logits of the positions that count, `[n, vocab]`, and their targets."""
    z = arguments.as_logits(logits)
    y = arguments.as_targets(targets, z.shape[:-1], z.shape[-1], ignore_index)
    rows = z.reshape(-1, z.shape[-1])
    if len(y.ids) < len(rows):
        rows = rows[y.positions]
    arguments.reject_bad_rows(rows, y.lead, y.positions)
    return rows, y


def _as_tokens(ids: ArrayLike, vocab_size: int) -> Array:
    """Ids that all name a token; here no value stands for "ignore"."""
    tokens = arguments.as_ids(ids, "ids")
    for end in (int(tokens.min()), int(tokens.max())) if tokens.size else ():
        if not 0 <= end < vocab_size:
            raise IndexError(f"ids hold {end}; token ids go from 0 to {vocab_size - 1}")
    return tokens
