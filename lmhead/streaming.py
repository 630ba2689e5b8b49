"""The loss and its gradients without the logits: the vocabulary is walked through a chunk at a time.

The logits of N positions are `[N, vocab]`, the largest array of a training step, and each of them is read once. Here
only `[N, chunk]` of them exist at a time. What a chunk leaves behind are two numbers per position, a `LogSumExp`:

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
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lmhead import _arguments as arguments
from lmhead._arguments import Array, Reduction, Targets, quietly
from lmhead._exact import exact_gap, sum_of_products
from lmhead.loss import HeadGrads, reduced

CHUNK = 2048  # columns of W_U at a time: wide enough for a fast product, 8 MiB of float32 logits for 1024 positions
_BLOCK = 2**17  # logits worked on at a time: they stay in a core's own cache from the first look to the last


# --- What a chunk of logits leaves behind ---


class LogSumExp(NamedTuple):
    """The sum of exp over some logits, for each position: exp(top) (1 + rest). Both arrays are float64."""

    top: Array  # the largest logit; -inf where all of them are masked
    rest: Array  # the sum of exp(z_j - top) over all the others: the largest one's own 1 is left out

    @property
    @quietly
    def value(self) -> Array:
        """The log-sum-exp itself, in nats."""
        return self.top + np.log1p(self.rest)


@quietly
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
    z = arguments.as_logits(logits)
    lead, rows = z.shape[:-1], z.reshape(-1, z.shape[-1])
    seen = np.flatnonzero(~np.isneginf(rows).all(axis=-1))
    arguments.reject_bad_rows(rows[seen], lead, seen)
    top, rest = _exponentiate(rows.copy()).state
    return LogSumExp(top.reshape(lead), rest.reshape(lead))


@quietly
def merge(a: LogSumExp, b: LogSumExp) -> LogSumExp:
    r"""The state of two sets of logits together. Associative and commutative, up to rounding.

    With `top` the larger of the two: $\mathrm{rest} = \mathrm{rest}_\text{high} + (1 + \mathrm{rest}_\text{low})\,
    e^{\mathrm{top}_\text{low} - \mathrm{top}_\text{high}}$. The state of no logits at all is (-inf, 0).

    Raises:
      TypeError: something that is no `LogSumExp`.

    >>> whole, parts = summarize([2.0, 1.0, 0.1]), merge(summarize([2.0]), summarize([1.0, 0.1]))
    >>> float(whole.rest.round(4)), float(parts.rest.round(4))
    (0.5174, 0.5174)
    """
    a, b = _as_state(a), _as_state(b)
    if a.top.ndim and b.top.ndim and a.top.shape != b.top.shape:
        raise ValueError(f"merge takes two states of the same positions; got {a.top.shape} and {b.top.shape}")
    a_is_higher = a.top >= b.top
    low_rest, high_rest = np.where(a_is_higher, b.rest, a.rest), np.where(a_is_higher, a.rest, b.rest)
    low_top, top = np.minimum(a.top, b.top), np.maximum(a.top, b.top)  # NaN stays NaN
    return LogSumExp(top, high_rest + (1.0 + low_rest) * _exp_gap(low_top, top))


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
        size, state = 1, _as_state(state)
        while waiting and waiting[-1][0] == size:
            state, size = merge(waiting.pop()[1], state), 2 * size
        waiting.append((size, state))
    if not waiting:
        raise ValueError("no states to merge: the log-sum-exp of nothing has no value")
    return functools.reduce(lambda later, earlier: merge(earlier, later), [state for _, state in reversed(waiting)])


def _as_state(state: LogSumExp) -> LogSumExp:
    if not isinstance(state, LogSumExp):
        raise TypeError(f"merge takes two LogSumExp, as summarize gives them; got {type(state).__name__}")
    return LogSumExp(
        *(arguments.as_floats(x, name).astype(np.float64) for x, name in zip(state, state._fields, strict=True))
    )


def _exp_gap(low: Array, top: Array) -> Array:
    """exp(low - top) for low <= top, as if the difference were not rounded; 0 where low is -inf."""
    gap, slip = exact_gap(low, top)
    ratio = np.exp(gap)
    return np.where(gap > -np.inf, ratio + ratio * slip, 0.0)  # -inf less -inf is NaN: not above -inf


# --- The loss and its gradients ---


@quietly
def streaming_cross_entropy(
    h: ArrayLike,
    W_U: ArrayLike,
    targets: ArrayLike,
    *,
    b: ArrayLike | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
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
    arguments.require_reduction(reduction)
    head, h, y = _as_problem(h, W_U, targets, b, ignore_index, chunk)
    losses = _losses(head, h, y, _first_pass(head, h, y.ids, functools.partial(_shaped, head.scratch(len(h)), len(h))))
    return y.in_place(losses.astype(h.dtype))[()] if reduction == "none" else reduced(losses, y, reduction)


@quietly
def streaming_head_grads(
    h: ArrayLike,
    W_U: ArrayLike,
    targets: ArrayLike,
    *,
    b: ArrayLike | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
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
    arguments.require_reduction(reduction, ("mean", "sum"))
    head, h, y = _as_problem(h, W_U, targets, b, ignore_index, chunk)
    divisor, scratch, dW_U = y.divisor(reduction), head.scratch(len(h)), _as_out(out, head, h)
    dh, part = np.zeros_like(h), np.empty_like(h)
    db = None if head.b is None else np.empty_like(head.b)

    n = 0 if recompute else min(h.shape)  # the positions whose exponentials find room in dW_U
    noted = _first_pass(head, h[:n], y.ids[:n], functools.partial(_corner, dW_U, n), keep=n > 0)
    others = _first_pass(head, h[n:], y.ids[n:], functools.partial(_shaped, scratch, len(h) - n))
    losses = _losses(head, h, y, noted, others)

    for at, columns in enumerate(head.chunks()):
        G = _shaped(scratch, len(h), columns)
        if n > 0:
            _write_gradient(G[:n], noted.chunks[at], noted, columns, divisor)
        if n < len(G):
            again = _exponentiate(head.logits(h[n:], columns, G[n:]))
            _write_gradient(G[n:], again, others, columns, divisor)
        dh += sum_of_products(G.T, head.columns(columns).T, out=part)
        sum_of_products(h, G, out=dW_U[:, columns])
        if db is not None:
            db[columns] = G.sum(axis=0, dtype=np.float64)
    return reduced(losses, y, reduction), HeadGrads(y.in_place(dh), dW_U, db)


# --- The two passes, a chunk at a time ---


class _Exponentials(NamedTuple):
    """A chunk of logits, each replaced by exp(z - shift), but for the largest one of a row, which is set apart."""

    values: Array  # [n, chunk] exp(z - shift), and 0 at the winner
    shift: Array  # [n]         the second largest logit of the row (0 where there is none, or only masked ones)
    winner: Array  # [n]        the column of the largest
    state: LogSumExp  # [n]     what the chunk leaves behind


class _FirstPass(NamedTuple):
    """What the first pass over the vocabulary knows about n positions."""

    ids: Array  # [n]     their targets
    state: LogSumExp  # [n] of all their logits
    losses: Array  # [n]  in float64
    chunks: list[_Exponentials]  # one per chunk, if they were to be kept


def _first_pass(
    head: _Head, h: Array, ids: Array, place: Callable[[slice], Array], *, keep: bool = False
) -> _FirstPass:
    """Score the vocabulary chunk by chunk, each in the array `[n, chunk]` that `place(columns)` gives."""
    z_y, kept = np.empty(len(h)), []

    def states() -> Iterator[LogSumExp]:
        for columns in head.chunks():
            z = head.logits(h, columns, place(columns))
            here, j = targets_in(ids, columns)
            z_y[here] = z[here, j]
            exponentials = _exponentiate(z)
            if keep:
                kept.append(exponentials)
            yield exponentials.state

    top, rest = merge_all(states())
    return _FirstPass(ids, LogSumExp(top, rest), (top - z_y) + np.log1p(rest), kept)


def _exponentiate(z: Array) -> _Exponentials:
    """Overwrite a chunk of logits `[n, chunk]` with their exponentials, relative to the **second** largest of the row.

    Those are the terms of `rest`. Where one token leads by far, its distance to each of them is large and is rounded
    as large numbers are; their distances among each other are small, so most of them are exact. The lead itself comes
    in once per row, without rounding.
    """
    step = max(1, _BLOCK // z.shape[1])
    blocks = [_exponentiate_block(z[start : start + step]) for start in range(0, len(z) or 1, step)]
    winner, top, runner_up, shift, total = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    rest = total * _exp_gap(runner_up.astype(np.float64), top)
    return _Exponentials(z, shift, winner, LogSumExp(top, rest))


def _exponentiate_block(z: Array) -> tuple[Array, ...]:
    each, winner = np.arange(len(z)), z.argmax(axis=1)  # of a row with NaN: the NaN
    top = z[each, winner].astype(np.float64)
    z[each, winner] = -np.inf
    runner_up = z[each, z.argmax(axis=1)]
    shift = np.where(np.isneginf(runner_up), 0.0, runner_up)
    if z.dtype == np.float64:
        z[...] = _exp_gap(z, shift[:, None])
    else:  # one term's rounding is lost in the sum of many
        z -= shift[:, None]
        np.exp(z, out=z)
    return winner, top, runner_up, shift, z.sum(axis=1)


def _losses(head: _Head, h: Array, y: Targets, *passes: _FirstPass) -> Array:
    """The loss of each position; where it has none, NaN or +inf has reached `top`, or -inf stands, as all is masked."""
    bad = np.flatnonzero(~np.isfinite(np.concatenate([each.state.top for each in passes])))[:1]
    if bad.size:
        z = head.logits(h[bad], slice(None), np.empty((1, head.W_U.shape[1]), h.dtype))
        arguments.reject_bad_rows(z, y.lead, y.positions[bad])
        where = arguments.position_name(int(y.positions[bad[0]]), y.lead, "logits row")
        raise ValueError(f"{where} has a logit beyond the range of {h.dtype}")  # summed in one order, not in the other
    return np.concatenate([each.losses for each in passes])


def _write_gradient(G: Array, chunk: _Exponentials, known: _FirstPass, columns: slice, divisor: int) -> None:
    """Fill G `[n, chunk]` with the gradient of the logits, p - onehot(y), divided by `divisor`."""
    top, rest = known.state
    share = 1.0 / (divisor * (1.0 + rest))
    factor = _exp_gap(np.minimum(chunk.shift, top), top) * share
    np.multiply(chunk.values, factor.astype(G.dtype)[:, None], out=G)
    G[np.arange(len(G)), chunk.winner] = _exp_gap(chunk.state.top, top) * share
    here, j = targets_in(known.ids, columns)
    G[here, j] = np.expm1(-known.losses[here]) / divisor


def targets_in(ids: Array, columns: slice) -> tuple[Array, Array]:
    """The positions whose target is among these columns, and which column of the chunk it is."""
    here = np.flatnonzero((columns.start <= ids) & (ids < columns.stop))
    return here, ids[here] - columns.start


# --- Arrays, and where they lie ---


class _Head(NamedTuple):
    """A head, and how much of it is used at a time."""

    W_U: Array  # [d_model, vocab], in any type
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
        np.matmul(h, self.columns(columns), out=out)
        if self.b is not None:
            out += self.b[columns]
        return out

    def scratch(self, n: int) -> Array:
        """Room for one chunk of logits of n positions."""
        return np.empty(n * min(self.chunk, self.W_U.shape[1]), self.dtype)


def _as_problem(
    h: ArrayLike, W_U: ArrayLike, targets: ArrayLike, b: ArrayLike | None, ignore_index: int, chunk: int
) -> tuple[_Head, Array, Targets]:
    """The head, the hidden states `[n, d_model]` of the positions that count, and their targets."""
    h, W_U, b = arguments.as_head(h, W_U, b)
    y, width = arguments.as_targets(targets, h.shape[:-1], W_U.shape[1], ignore_index), arguments.as_int(chunk, "chunk")
    if width < 1:
        raise ValueError(f"chunk must be at least 1 token; got {width}")
    rows = h.reshape(-1, len(W_U))
    rows = np.ascontiguousarray(rows if len(rows) == len(y.ids) else rows[y.positions])
    return _Head(W_U, b, h.dtype, width), rows, y


def _as_out(out: Array | None, head: _Head, h: Array) -> Array:
    """An array for dW_U; a new one lies in memory as W_U does."""
    if out is None:
        return np.empty_like(head.W_U, head.dtype, subok=False)
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise TypeError(f"out must be an array that dW_U is written to; got {type(out).__name__}")
    if out.shape != head.W_U.shape or out.dtype != head.dtype:
        raise ValueError(f"out must be {head.dtype} {head.W_U.shape}, as dW_U is; got {out.dtype} {out.shape}")
    if not (out.flags.c_contiguous or out.flags.f_contiguous):
        raise ValueError("out must be contiguous, or the transposed view of a contiguous array; got one with gaps")
    if not out.flags.writeable:
        raise ValueError("out is read-only, and dW_U is written to it")
    if any(np.may_share_memory(out, x) for x in (head.W_U, h, head.b) if x is not None):
        raise ValueError("out lies in the memory of W_U, h or b, which would be overwritten while they are read")
    return out


def _shaped(scratch: Array, n: int, columns: slice) -> Array:
    """The start of `scratch` as `[n, chunk]`."""
    width = columns.stop - columns.start
    return scratch[: n * width].reshape(n, width)


def _corner(dW_U: Array, n: int, columns: slice) -> Array:
    """Room for the logits `[n, chunk]` of n <= d_model positions, in the part of dW_U that these columns will fill."""
    part = dW_U[:, columns]
    if dW_U.flags.c_contiguous:
        return part[:n]
    return _shaped(part.T.reshape(-1), n, columns)  # W_U is a view of [vocab, d_model]: part.T is one stretch of memory
