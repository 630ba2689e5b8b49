"""Chapter 13: a vocabulary that is worked on in pieces."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run

State = tuple[float, float]
_EMPTY: State = (-np.inf, 0.0)


def _state(*logits: float) -> State:
    top, *others = sorted(logits, reverse=True)
    return top, float(np.exp(np.array(others) - top).sum())


def _merge(a: State, b: State) -> State:
    low, high = sorted((a, b))
    return high[0], high[1] + ((1 + low[1]) * np.exp(low[0] - high[0]) if low[0] > -np.inf else 0.0)


MERGE = Exercise(
    right=_merge,
    kinds=[
        Kind(
            "two pieces of a row",
            "The higher top stays. The other piece's whole sum is 1 + rest; bring it to that top: exp(its top - top).",
            [
                (_state(2.0, 1.0), _state(0.1, 0.5)),
                (_state(0.1, 0.5), _state(2.0, 1.0)),
                (_state(-3.0), _state(-1.0, -1.5, -2.0)),
            ],
        ),
        Kind(
            "equal tops",
            "With equal tops nothing is scaled. One of the two largest is the new top, the other's 1 goes to rest.",
            [((1.0, 0.5), (1.0, 0.25)), ((-2.0, 0.0), (-2.0, 0.0))],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the new top go into exp.",
            [((1000.0, 0.5), (900.0, 0.2)), ((-1001.0, 0.5), (-900.0, 0.0)), ((-900.0, 0.25), (900.0, 0.125))],
        ),
        Kind(
            "an empty piece",
            "(-inf, 0) is a piece without tokens: merging it in changes nothing.",
            [(_EMPTY, (2.0, 0.5)), ((-1.0, 0.5), _EMPTY)],
        ),
        Kind(
            "two empty pieces",
            "-inf - -inf is NaN. Two empty pieces make an empty one, (-inf, 0): treat it apart.",
            [(_EMPTY, _EMPTY)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda a, b: (max(a, b)[0], max(a, b)[1] + min(a, b)[1] * np.exp(min(a, b)[0] - max(a, b)[0])),
            "You forget the lower piece's own largest logit: its sum is 1 + rest, and all of it goes to the new rest.",
        ),
        Mistake(
            lambda a, b: (max(a[0], b[0]), a[1] + b[1]),
            "You add sums that count from different tops. Bring each to the new top first: exp(its top - top).",
        ),
        Mistake(
            lambda a, b: (max(a[0], b[0]), a[1] + b[1] + 1),
            "You add sums that count from different tops. Scale the lower piece's 1 + rest by exp(its top - top).",
        ),
        Mistake(
            lambda a, b: (
                max(a[0], b[0]),
                ((1 + a[1]) * np.exp(a[0]) + (1 + b[1]) * np.exp(b[0])) / np.exp(max(a[0], b[0])) - 1,
            ),
            "exp(top) overflows, or underflows to 0 / 0. Put only differences into exp: exp(its top - top).",
        ),
        Mistake(
            lambda a, b: (
                max(a, b)[0],
                max(a, b)[1] + (1 + min(a, b)[1]) * np.exp(np.float64(min(a, b)[0]) - max(a, b)[0]),
            ),
            "Right but for two empty pieces: -inf - -inf is NaN. Return the other piece if one is empty.",
        ),
        Mistake(
            lambda a, b: (
                max(a, b)[0],
                max(a, b)[1] + (1 + min(a, b)[1]) * np.exp(np.float64(max(a, b)[0]) - min(a, b)[0]),
            ),
            "Your exponent has the wrong sign. A sum shrinks when the top grows: exp(its top - the new top).",
        ),
        Mistake(
            lambda a, b: (a[0], a[1] + (1 + b[1]) * np.exp(np.float64(b[0]) - a[0])),
            "You keep the first top even if the second is higher: exp overflows. Take the higher.",
        ),
        Mistake(
            lambda a, b: (max(a, b)[0], 1 + max(a, b)[1] + (1 + min(a, b)[1]) * np.exp(min(a, b)[0] - max(a, b)[0])),
            "You return the whole sum. rest leaves out the 1 of the largest logit.",
        ),
        Mistake(lambda a, b: max(a, b), "You keep the piece with the higher top. The other one's tokens count too."),
        Mistake(
            lambda a, b: np.logaddexp(a[0] + np.log1p(a[1]), b[0] + np.log1p(b[1])),
            "You return the finished log-sum-exp. Asked is the pair (top, rest), which can be merged again.",
        ),
        Mistake(
            lambda a, b: _merge(a, b)[::-1],
            "Your pair is (rest, top). The top comes first.",
        ),
    ],
)


def merge(yours: Function) -> None:
    r"""Chapter 13, `merge(a, b) -> (top, rest)`: one state out of those of two pieces of a row of logits.

    A state is the pair of the largest logit, top, and the others' sum, rest $= \sum_{j \ne k} e^{z_j - top}$, so that
    log-sum-exp is $top + \log(1 + rest)$, as `lmhead.merge` has it. With the higher top, $rest = rest_{high} +
    (1 + rest_{low}) e^{top_{low} - top_{high}}$. A piece without tokens is (-inf, 0).

    >>> merge(lambda a, b: (max(a[0], b[0]), a[1] + b[1]))
    Not yet: two pieces of a row (case 1 of 11).
      input     a = (2.0, 0.3679), b = (0.5, 0.6703)
      got       (2.0, 1.0382)
      expected  (2.0, 0.7406)
      Looks like: You add sums that count from different tops. Bring each to the new top first:
      exp(its top - top).
    >>> def merged(a, b):
    ...     low, high = sorted([a, b])
    ...     return (high[0], high[1] + (1 + low[1]) * np.exp(low[0] - high[0])) if low[0] > -np.inf else high
    >>> merge(merged)
    Right: all 11 cases pass.
    """
    run(yours, MERGE)


def _stream(
    h: Array,
    W_U: Array,
    y: Array,
    chunk: int,
    *,
    rescale: bool = True,
    shift: bool = True,
    last_chunk: bool = True,
    step: int = 0,
    target_once: bool = True,
) -> Array:
    """Each position's loss, chunk by chunk; every switch that is turned makes one of the mistakes."""
    n, vocab_size = len(h), W_U.shape[1]
    m, s, z_y = np.full(n, -np.inf), np.zeros(n), np.zeros(n)
    for start in range(0, vocab_size if last_chunk else vocab_size // chunk * chunk, step or chunk):
        logits = h @ W_U[:, start : start + chunk]
        new_m = np.maximum(m, logits.max(axis=1)) if shift else np.zeros(n)
        s = s * np.exp(m - new_m) if rescale and shift else s
        s = s + np.exp(logits - new_m[:, None]).sum(axis=1)
        m = new_m
        here = (start <= y) & (y < start + chunk) if target_once else y % chunk < logits.shape[1]
        z_y[here] = logits[here, (y - start)[here] if target_once else (y % chunk)[here]]
    return m + np.log(s) - z_y


def _mean_of_chunk_losses(h: Array, W_U: Array, y: Array, chunk: int) -> float:
    lse = [lmhead.logsumexp(h @ W_U[:, start : start + chunk]) for start in range(0, W_U.shape[1], chunk)]
    return float((np.mean(lse, axis=0) - (h @ W_U)[np.arange(len(y)), y]).mean())


def _only_the_targets_chunk(h: Array, W_U: Array, y: Array, chunk: int) -> float:
    starts = y // chunk * chunk
    losses = [
        lmhead.cross_entropy(h[n] @ W_U[:, start : start + chunk], y[n] - start) for n, start in enumerate(starts)
    ]
    return float(np.mean(losses))


_N, _V = 64, 4096  # logits of 1 MiB in float32, where a chunk of 64 columns takes 16 KiB

STREAMING_LOSS = Exercise(
    right=lambda h, W_U, y, chunk: float(lmhead.cross_entropy(lmhead.unembed(h, W_U), y)),
    kinds=[
        Kind(
            "chunks of equal size",
            "When the running maximum grows, the running sum must be scaled: s * exp(old m - new m).",
            [
                (draw(1, 2, 2), draw(2, 2, 3), np.array([2, 0]), 3),
                (draw(5, 2, 2), draw(6, 2, 4), np.array([3, 0]), 2),
                (draw(7, 3, 2), draw(8, 2, 6), np.array([1, 5, 2]), 3),
                (draw(9, 2, 3), draw(10, 3, 4), np.array([0, 2]), 1),
            ],
        ),
        Kind(
            "a smaller last chunk",
            "The vocabulary is no multiple of chunk: the last piece is smaller, and counts. It may be the only one.",
            [
                (draw(11, 2, 2), draw(12, 2, 5), np.array([1, 0]), 3),
                (draw(13, 3, 2), draw(14, 2, 7), np.array([4, 0, 2]), 5),
                (draw(3, 3, 2), draw(4, 2, 4), np.array([1, 3, 0]), 9),
            ],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the running maximum go into exp.",
            [(np.array([[500.0], [-500.0]]), np.array([[2.0, 1.999, -2.0, -1.999]]), np.array([1, 2]), 2)],
        ),
        Kind(
            "a large vocabulary",
            "Hold one chunk of logits [N, chunk] at a time. Keep a maximum and a sum for each position.",
            [(draw(15, _N, 3), draw(16, 3, _V), np.arange(_N) * 63, 64)],
            max_bytes=_N * _V * 4 // 2,
        ),
    ],
    mistakes=[
        Mistake(
            lambda h, W_U, y, chunk: lmhead.cross_entropy(lmhead.unembed(h, W_U), y),
            "You hold as much as all logits [N, V] at once. Score one piece, W_U[:, start : start + chunk], and keep "
            "its maximum and its sum.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk, last_chunk=False).mean(),
            "You drop the last chunk when it is smaller: range(0, V, chunk) reaches it, V // chunk does not.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk, rescale=False).mean(),
            "Your running sum still counts from the old maximum. Scale it when m grows: s * exp(old m - new m).",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk, shift=False).mean(),
            "exp overflows, or underflows to log 0. Carry a running maximum, and put only differences to it into exp.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk).sum(),
            "You return the sum over the positions. Asked is their mean.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk, target_once=False).mean(),
            "You look the target up in every chunk, and keep the last. It lies in one: start <= y < start + chunk.",
        ),
        Mistake(
            _mean_of_chunk_losses,
            "You average the chunks' log-sum-exps. Their sums of exp add up: merge (m, s).",
        ),
        Mistake(
            _only_the_targets_chunk,
            "You sum over the target's own chunk only. The other chunks compete for the same probability.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: _stream(h, W_U, y, chunk, step=chunk - 1 or 1).mean(),
            "Your chunks overlap by a token. The next one starts at start + chunk.",
        ),
        Mistake(
            lambda h, W_U, y, chunk: -_stream(h, W_U, y, chunk).mean(),
            "You lost a sign: the loss is log(s) + m - z[y].",
        ),
    ],
)


def streaming_loss(yours: Function) -> None:
    """Chapter 13, `streaming_loss(h, W_U, y, chunk) -> loss`: the mean cross-entropy without the `[N, V]` logits.

    h is `[N, d_model]`, W_U `[d_model, V]`, y `[N]` token ids, chunk the number of columns to score at a time (it need
    not divide V, and may exceed it). One case has a large V and watches how much memory is held at once.

    >>> streaming_loss(lambda h, W_U, y, chunk: lmhead.cross_entropy(h @ W_U, y))
    Not yet: too much memory at once, a large vocabulary (case 9 of 9).
      input     h = an array [64, 3], W_U = an array [3, 4096], y = an array [64], chunk = 64
      Looks like: You hold as much as all logits [N, V] at once. Score one piece, W_U[:, start :
      start + chunk], and keep its maximum and its sum.
    >>> def streamed(h, W_U, y, chunk):
    ...     m, s, z_y = np.full(len(h), -np.inf), 0.0, np.zeros(len(h))
    ...     for start in range(0, W_U.shape[1], chunk):
    ...         z = h @ W_U[:, start : start + chunk]
    ...         old, m = m, np.maximum(m, z.max(axis=1))
    ...         s = s * np.exp(old - m) + np.exp(z - m[:, None]).sum(axis=1)
    ...         here = (start <= y) & (y < start + chunk)
    ...         z_y[here] = z[here, y[here] - start]
    ...     return (m + np.log(s) - z_y).mean()
    >>> streaming_loss(streamed)
    Right: all 9 cases pass.
    """
    run(yours, STREAMING_LOSS)
