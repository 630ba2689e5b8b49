"""The loss and its gradients without the logits: the vocabulary is walked through a chunk at a time.

The logits of N positions are `[N, vocab]`, the largest array of a training step, and each of them is read once. Here
only `[N, chunk]` of them exist at a time. What a chunk leaves behind are two numbers a position, a `LogSumExp`:

    top  = z_k, the largest logit seen so far
    rest = sum over j != k of exp(z_j - z_k)            so that  log sum_j exp(z_j) = top + log1p(rest)

and two of these merge into the one of both chunks together. The first pass over the vocabulary ends in the loss,

    L = (top - z_y) + log1p(rest)

and a second one makes the gradient G of the logits, again a chunk at a time, and uses it up at once:

    G_j = p_j = exp(z_j - top) / (1 + rest)             for j != y
    G_y = p_y - 1 = exp(-L) - 1
    dh  = sum over the chunks of G W_U[:, chunk]^T      dW_U[:, chunk] = h^T G      db[chunk] = sum over the rows of G

Source: the online softmax of Milakov and Gimelshein (2018); as a loss that never stores the logits, Wijmans et al.
(2024), "Cut Your Losses in Large-Vocabulary Language Models".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead._arguments import (
    Array,
    as_floats,
    as_int,
    as_logits,
    as_targets,
    mean_count,
    position_name,
    reject_bad_rows,
    require_reduction,
)
from lmhead.head import require_head_shapes, unembed
from lmhead.loss import HeadGrads

CHUNK = 2048  # columns of W_U at a time: wide enough for a fast product, 8 MiB of float32 logits for 1024 positions
_BLOCK = 2**17  # logits worked on at a time: they stay in a core's own cache from the first look to the last


# --- What a chunk of logits leaves behind ---


class LogSumExp(NamedTuple):
    """The sum of exp over some logits, for each position: exp(top) (1 + rest). Both arrays are float64."""

    top: Array  # the largest logit; -inf where all of them are masked
    rest: Array  # the sum of exp(z_j - top) over all the others: the largest one's own 1 is left out

    @property
    def value(self) -> Array:
        """The log-sum-exp itself, in nats."""
        return self.top + np.log1p(self.rest)


def summarize(logits: ArrayLike) -> LogSumExp:
    """The state of a chunk of logits: its largest one, and the exp of all others relative to it.

    Args:
      logits: `[..., chunk]`, as for `lmhead.logsumexp`; here a row may be -inf everywhere: another chunk may hold the
        tokens that are not masked.

    Returns:
      `LogSumExp(top, rest)`, each `[...]`.

    Raises:
      ValueError: NaN or +inf.  TypeError: logits that are not real numbers.

    >>> state = summarize([2.0, 1.0, 0.1])
    >>> float(state.top), float(state.rest.round(4)), float(state.value.round(4))
    (2.0, 0.5174, 2.417)
    """
    z = as_logits(logits)
    lead, rows = z.shape[:-1], z.reshape(-1, z.shape[-1])
    seen = np.flatnonzero(~np.isneginf(rows).all(axis=-1))
    reject_bad_rows(rows[seen], lead, seen)
    top, rest = _exponentiate(rows.copy()).state
    return LogSumExp(top.reshape(lead), rest.reshape(lead))


def merge(a: LogSumExp, b: LogSumExp) -> LogSumExp:
    r"""The state of two sets of logits together. Associative and commutative, up to rounding.

    With `top` the larger of the two: $\mathrm{rest} = \mathrm{rest}_{high} + (1 + \mathrm{rest}_{low})\,
    e^{\mathrm{top}_{low} - \mathrm{top}_{high}}$. The state of no logits at all is (-inf, 0).

    Raises:
      TypeError: something that is no `LogSumExp`.

    >>> whole, parts = summarize([2.0, 1.0, 0.1]), merge(summarize([2.0]), summarize([1.0, 0.1]))
    >>> float(whole.rest.round(4)), float(parts.rest.round(4))
    (0.5174, 0.5174)
    """
    for state in (a, b):
        if not isinstance(state, LogSumExp):
            raise TypeError(f"merge takes two LogSumExp, as summarize gives them; got {type(state).__name__}")
    a_is_higher = a.top >= b.top
    low_top = np.where(a_is_higher, b.top, a.top)
    low_rest = np.where(a_is_higher, b.rest, a.rest)
    high_rest = np.where(a_is_higher, a.rest, b.rest)
    top = np.maximum(a.top, b.top)  # NaN stays NaN
    return LogSumExp(top, high_rest + (1.0 + low_rest) * exp_gap(low_top, top))


def merge_all(states: Iterable[LogSumExp]) -> LogSumExp:
    """The state of all logits, merged like the rounds of a tournament: two by two, then those results, and so on.

    One after the other would give the same but for rounding: the first chunk's sum would be rounded in every merge,
    here in one merge a round. At most one state a round is waiting.

    >>> chunks = [summarize([z]) for z in (2.0, 1.0, 0.1)]
    >>> float(merge_all(chunks).value.round(4))
    2.417
    """
    waiting: list[tuple[int, LogSumExp]] = []  # (how many chunks it stands for, state)
    for state in states:
        size = 1
        while waiting and waiting[-1][0] == size:
            state, size = merge(waiting.pop()[1], state), 2 * size
        waiting.append((size, state))
    if not waiting:
        raise ValueError("no states to merge: the log-sum-exp of nothing has no value")
    return functools.reduce(lambda later, earlier: merge(earlier, later), [state for _, state in reversed(waiting)])


def exp_gap(low: Array, top: Array) -> Array:
    """exp(low - top) for low <= top, as if the difference were not rounded; 0 where low is -inf.

    exp makes the rounding of a difference of 100 an error of 64 roundings. Knuth's two-sum gives that rounding, `slip`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gap = low - top
        back = gap - low
        slip = (low - (gap - back)) - (top + back)
        ratio = np.exp(gap)
        return np.where(gap > -np.inf, ratio + ratio * slip, 0.0)  # -inf less -inf is NaN: not above -inf


# --- The loss and its gradients ---


def streaming_cross_entropy(
    h: ArrayLike,
    W_U: ArrayLike,
    targets: ArrayLike,
    *,
    b: ArrayLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    chunk: int = CHUNK,
) -> Array:
    """`cross_entropy(unembed(h, W_U, b), targets)` in the memory of `chunk` tokens' logits.

    Args:
      h: hidden states `[..., d_model]`.
      W_U: `[d_model, vocab]`; a transposed view of `[vocab, d_model]`, as `tie` gives it, is used where it lies.
      targets: token ids `[...]` of any integer type.
      b: a bias `[vocab]` or None; -inf masks a token.
      ignore_index: positions with this target cost nothing and are not counted; their h is not looked at.
      reduction: "mean" over the positions that count, "sum", or "none" (`[...]`, 0 where ignored).
      chunk: how many tokens are scored at a time; changes the result by rounding alone.

    Returns:
      Nats: `[...]` in the precision of the logits for "none"; else one float64, the precision that sums are carried in.
      inf if the target's own logit is -inf.

    Raises:
      As `unembed` and `cross_entropy`. ValueError: a chunk below 1.

    >>> h, W_U = [[1.0, 2.0], [0.5, -1.0]], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]
    >>> float(streaming_cross_entropy(h, W_U, [1, 0], chunk=2).round(4))
    0.6041
    """
    require_reduction(reduction)
    head, rows = _checked(h, W_U, targets, b, ignore_index, chunk)
    scratch = head.scratch(len(rows.h))
    losses = _first_pass(head, rows, lambda columns: _shaped(scratch, len(rows.h), columns)).losses
    if reduction == "none":
        return rows.back_in_place(losses.astype(head.dtype))[()]
    return losses.sum() / (rows.mean_count() if reduction == "mean" else 1)


def streaming_head_grads(
    h: ArrayLike,
    W_U: ArrayLike,
    targets: ArrayLike,
    *,
    b: ArrayLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    chunk: int = CHUNK,
    recompute: bool = False,
    out: Array | None = None,
) -> tuple[Array, HeadGrads]:
    """The loss and, as `head_grads` has them, its gradients with respect to h, W_U and b.

    The second pass needs what the first one had computed. A chunk's `[d_model, chunk]` corner of dW_U lies unused until
    the second pass fills it, so the first pass leaves the exp of its logits there, for as many positions as fit:
    d_model. The logits of the others, or of all with `recompute`, are made a second time.

    Args:
      h: `[..., d_model]`.
      W_U: `[d_model, vocab]`, or a transposed view of `[vocab, d_model]`.
      targets: token ids `[...]`.
      b: `[vocab]` or None.
      ignore_index: as for `streaming_cross_entropy`.
      reduction: "mean" or "sum".
      chunk: how many tokens are scored at a time.
      recompute: True makes all logits twice: 4 products instead of 3, and no notes are kept between the passes.
      out: the array to write dW_U to, such as an earlier call gave; None makes a new one, and it takes time to be given
        that much memory.

    Returns:
      The loss, and `HeadGrads(h, W_U, b)`. The gradient of W_U lies in memory as W_U does: for a tied head, whose W_U
      is `E.T`, `grads.W_U.T` is dE `[vocab, d_model]`, contiguous, and nothing was copied.

    Raises:
      As `streaming_cross_entropy`. ValueError: an `out` that dW_U does not fit into.  TypeError: one that is no array.

    >>> loss, grads = streaming_head_grads([[1.0, 2.0]], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], [1], chunk=2)
    >>> float(loss.round(4)), grads.h.round(4).tolist()
    (0.6803, [[0.3399, -0.3399]])
    """
    require_reduction(reduction, ("mean", "sum"))
    head, rows = _checked(h, W_U, targets, b, ignore_index, chunk)
    scale = 1.0 / (rows.mean_count() if reduction == "mean" else 1)
    scratch = head.scratch(len(rows.h))
    dW_U = _checked_out(out, head, rows)
    db = None if head.b is None else np.empty_like(head.b)
    dh, product = np.zeros_like(rows.h), np.empty_like(rows.h)

    stashed, others = rows.split(0 if recompute else min(rows.h.shape))
    n = len(stashed.h)
    first = _first_pass(head, stashed, lambda columns: _corner(dW_U, columns, n), keep=n > 0)
    second = _first_pass(head, others, lambda columns: _shaped(scratch, len(others.h), columns))

    for at, columns in enumerate(head.chunks()):
        G = _shaped(scratch, len(rows.h), columns)
        if n > 0:
            _write_gradient(G[:n], first.chunks[at], first, columns, scale)
        if n < len(G):
            remade = _exponentiate(head.logits(others.h, columns, out=G[n:]))
            _write_gradient(G[n:], remade, second, columns, scale)
        dh += np.matmul(G, head.columns(columns).T, out=product)
        np.matmul(rows.h.T, G, out=dW_U[:, columns])
        if db is not None:
            db[columns] = G.sum(axis=0)
    loss = (first.losses.sum() + second.losses.sum()) * scale
    return loss, HeadGrads(rows.back_in_place(dh), dW_U, db)


# --- The two passes, a chunk at a time ---


class _Exponentials(NamedTuple):
    """A chunk of logits, each replaced by exp(z - shift), but for the largest one of a row, which is set apart."""

    values: Array  # [n, chunk] exp(z - shift), and 0 at the winner
    shift: Array  # [n]         the second largest logit of the row (0 where there is none, or only masked ones)
    winner: Array  # [n]        the column of the largest
    state: LogSumExp  # [n]     what the chunk leaves behind


class _FirstPass(NamedTuple):
    """What the first pass over the vocabulary knows about n positions."""

    rows: _Rows
    state: LogSumExp  # of all logits of a position
    losses: Array  # [n], float64
    chunks: list[_Exponentials]  # one a chunk, if they were to be kept


def _first_pass(head: _Head, rows: _Rows, place: Callable[[slice], Array], keep: bool = False) -> _FirstPass:
    """Score the vocabulary chunk by chunk, each in the array `[n, chunk]` that `place(columns)` gives."""
    z_y = np.empty(len(rows.h))
    kept = []

    def states() -> Iterator[LogSumExp]:
        for columns in head.chunks():
            z = head.logits(rows.h, columns, out=place(columns))
            n, j = rows.targets_in(columns)
            z_y[n] = z[n, j]
            chunk = _exponentiate(z)
            if keep:
                kept.append(chunk)
            yield chunk.state

    state = merge_all(states())
    _reject_bad_logits(head, rows, state)
    return _FirstPass(rows, state, (state.top - z_y) + np.log1p(state.rest), kept)


def _exponentiate(z: Array) -> _Exponentials:
    """Overwrite a chunk of logits `[n, chunk]` with their exponentials, relative to the **second** largest of the row.

    Those are the terms of `rest`. Where one token leads by far, its distance to each of them is large and is rounded
    as large numbers are; their distances among each other are small, so most of them are exact. The lead itself comes
    in once a row, without rounding.
    """
    n, width = z.shape
    winner, total = np.empty(n, np.intp), np.empty(n)
    top, second, shift = np.empty((3, n), z.dtype)
    step = max(1, _BLOCK // width)

    with np.errstate(all="ignore"):  # -inf and NaN are looked for where they matter: in the state
        for start in range(0, n, step):
            rows = slice(start, start + step)
            block = z[rows]
            each = np.arange(len(block))
            winner[rows] = block.argmax(axis=1)  # of a row with NaN: the NaN
            top[rows] = block[each, winner[rows]]
            block[each, winner[rows]] = -np.inf
            second[rows] = block[each, block.argmax(axis=1)]
            shift[rows] = np.where(np.isneginf(second[rows]), 0.0, second[rows])
            if z.dtype == np.float64:
                block[...] = exp_gap(block, shift[rows, None])
            else:  # one term's rounding is lost in the sum of many
                block -= shift[rows, None]
                np.exp(block, out=block)
            total[rows] = block.sum(axis=1)
    wide = top.astype(np.float64)
    return _Exponentials(z, shift, winner, LogSumExp(wide, total * exp_gap(second.astype(np.float64), wide)))


def _write_gradient(G: Array, chunk: _Exponentials, known: _FirstPass, columns: slice, scale: float) -> None:
    """Fill G `[n, chunk]` with the gradient of the logits, p - onehot(y), times `scale`."""
    top, rest = known.state
    per_unit = scale / (1.0 + rest)
    factor = (exp_gap(np.minimum(chunk.shift, top), top) * per_unit).astype(G.dtype)

    np.multiply(chunk.values, factor[:, None], out=G)
    G[np.arange(len(G)), chunk.winner] = exp_gap(chunk.state.top, top) * per_unit
    n, j = known.rows.targets_in(columns)
    G[n, j] = np.expm1(-known.losses[n]) * scale


# --- Arrays, where they lie and where they belong ---


class _Head(NamedTuple):
    """A head whose parts fit together, and how much of it is used at a time."""

    W_U: Array  # [d_model, vocab]
    b: Array | None
    dtype: np.dtype[Any]  # of the logits
    chunk: int

    def chunks(self) -> Iterator[slice]:
        vocab_size = self.W_U.shape[1]
        for start in range(0, vocab_size, self.chunk):
            yield slice(start, min(start + self.chunk, vocab_size))

    def columns(self, columns: slice) -> Array:
        return self.W_U[:, columns].astype(self.dtype, copy=False)

    def logits(self, h: Array, columns: slice, out: Array) -> Array:
        with np.errstate(all="ignore"):
            np.matmul(h, self.columns(columns), out=out)
            if self.b is not None:
                out += self.b[columns]
        return out

    def scratch(self, n: int) -> Array:
        """Room for one chunk of logits of n positions."""
        return np.empty(n * min(self.chunk, self.W_U.shape[1]), self.dtype)


class _Rows(NamedTuple):
    """The positions that count, and where they stood."""

    h: Array  # [n, d_model]
    targets: Array  # [n]
    positions: Array  # [n], in the flattened `lead`
    lead: tuple[int, ...]
    ignore_index: int

    def split(self, n: int) -> tuple[_Rows, _Rows]:
        """The first n positions, and the others."""
        first, others = (
            self._replace(h=self.h[part], targets=self.targets[part], positions=self.positions[part])
            for part in (slice(None, n), slice(n, None))
        )
        return first, others

    def targets_in(self, columns: slice) -> tuple[Array, Array]:
        """The positions whose target is among these columns, and which column of the chunk it is."""
        n = np.flatnonzero((columns.start <= self.targets) & (self.targets < columns.stop))
        return n, self.targets[n] - columns.start

    def mean_count(self) -> int:
        return mean_count(len(self.h), math.prod(self.lead), self.ignore_index)

    def back_in_place(self, values: Array) -> Array:
        """`values` `[n, ...]` where the positions stood, 0 where they were ignored."""
        every = values
        if len(values) < math.prod(self.lead):
            every = np.zeros((math.prod(self.lead), *values.shape[1:]), values.dtype)
            every[self.positions] = values
        return every.reshape((*self.lead, *values.shape[1:]))


def _checked(
    h: ArrayLike, W_U: ArrayLike, targets: ArrayLike, b: ArrayLike | None, ignore_index: int, chunk: int
) -> tuple[_Head, _Rows]:
    """The arguments as a head and the positions that count; refused in the words of `unembed` and `cross_entropy`."""
    h, W_U = as_floats(h, "h"), np.asarray(W_U)
    require_head_shapes(h, W_U)
    lead, (d_model, vocab_size) = h.shape[:-1], W_U.shape
    no_logits = as_logits(unembed(np.empty((0, 0), h.dtype), W_U[:0], b))  # no W_U is read: types and shapes alone
    if as_int(chunk, "chunk") < 1:
        raise ValueError(f"chunk must be at least 1 token; got {chunk}")
    positions, ids = as_targets(targets, lead, vocab_size, ignore_index)
    flat = h.reshape(-1, d_model)
    counted = flat if len(positions) == len(flat) else flat[positions]
    head = _Head(W_U, None if b is None else np.asarray(b, no_logits.dtype), no_logits.dtype, int(chunk))
    return head, _Rows(np.ascontiguousarray(counted, head.dtype), ids, positions, lead, ignore_index)


def _checked_out(out: Array | None, head: _Head, rows: _Rows) -> Array:
    """An array for dW_U; a new one lies in memory as W_U does."""
    if out is None:
        return np.empty_like(head.W_U, head.dtype, subok=False)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array that dW_U is written to; got {type(out).__name__}")
    if out.shape != head.W_U.shape or out.dtype != head.dtype:
        raise ValueError(f"out must be {head.dtype} {head.W_U.shape}, as dW_U is; got {out.dtype} {out.shape}")
    if not (out.flags.c_contiguous or out.flags.f_contiguous):
        raise ValueError("out must be contiguous, or the transposed view of a contiguous array; got one with gaps")
    if np.may_share_memory(out, head.W_U) or np.may_share_memory(out, rows.h):
        raise ValueError("out lies in the memory of W_U or h, which would be overwritten while they are read")
    return out


def _reject_bad_logits(head: _Head, rows: _Rows, state: LogSumExp) -> None:
    """Name the first position that has no loss: NaN and +inf reach `top`, and -inf stays there if all is masked."""
    bad = np.flatnonzero(~np.isfinite(state.top))[:1]
    if not bad.size:
        return
    with np.errstate(all="ignore"):
        reject_bad_rows(unembed(rows.h[bad], head.W_U, head.b), rows.lead, rows.positions[bad])
    where = position_name(int(rows.positions[bad[0]]), rows.lead, "logits row")
    raise ValueError(f"{where} has a logit beyond the range of {head.dtype}")  # summed in one order, not in the other


def _shaped(scratch: Array, n: int, columns: slice) -> Array:
    """The start of `scratch` as `[n, chunk]`."""
    width = columns.stop - columns.start
    return scratch[: n * width].reshape(n, width)


def _corner(dW_U: Array, columns: slice, n: int) -> Array:
    """Room for the logits `[n, chunk]` of n <= d_model positions, in the part of dW_U that these columns will fill."""
    part = dW_U[:, columns]
    if dW_U.flags.c_contiguous:
        return part[:n]
    return _shaped(part.T.reshape(-1), n, columns)  # W_U is a view of [vocab, d_model]: part.T is one stretch of memory
