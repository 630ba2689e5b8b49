"""Chapters 12 and 13: a text's loss in units that compare, and a vocabulary that is worked on in pieces."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run

BITS_PER_BYTE = Exercise(
    right=lambda losses, text: lmhead.bits_per_byte(losses.sum(), len(text.encode())),
    kinds=[
        Kind(
            "English text",
            "The summed loss in bits (nats / log 2), over the length of the text in bytes.",
            [(np.array([2.0, 1.5, 0.5]), "a cat sat"), (np.array([4.2, 0.1]), "the moon"), (np.array([3.0]), "hello")],
        ),
        Kind(
            "letters with accents",
            "An accented letter is one character and two bytes in UTF-8: len(text.encode()).",
            [(np.array([3.0, 2.0]), "café crème"), (np.array([1.0, 2.5, 0.3]), "Größe")],
        ),
        Kind(
            "Chinese, and a picture",
            "A Chinese character is three bytes in UTF-8, an emoji four: len(text.encode()).",
            [(np.array([2.5, 1.5]), "语言模型"), (np.array([5.0, 1.0, 2.0]), "a 🐈 sat")],
        ),
    ],
    mistakes=[
        Mistake(
            lambda losses, text: losses.sum() / np.log(2) / len(text),
            "You count characters. Beyond English a character is 2 to 4 bytes: len(text.encode()).",
        ),
        Mistake(
            lambda losses, text: losses.sum() / len(text.encode()),
            "Your unit is nats. A bit is log 2 nats: divide by np.log(2).",
        ),
        Mistake(
            lambda losses, text: losses.mean() / np.log(2) / len(text.encode()),
            "You start from the mean loss. The bytes are those of the whole text, so take the sum.",
        ),
        Mistake(
            lambda losses, text: losses.sum() / np.log(2) / losses.size,
            "You divide by tokens: bits per token depend on the tokenizer. Divide by len(text.encode()).",
        ),
        Mistake(
            lambda losses, text: losses.sum() * np.log(2) / len(text.encode()),
            "You multiply by log 2. A nat is more than a bit, so the number must grow: divide.",
        ),
        Mistake(
            lambda losses, text: losses.sum() / np.log(2) / (8 * len(text.encode())),
            "You divide by bits (8 a byte). Asked are bits per byte.",
        ),
        Mistake(
            lambda losses, text: losses.sum() / np.log(2) / len(text.split()),
            "You count words. Divide by bytes: len(text.encode()).",
        ),
        Mistake(
            lambda losses, text: losses.sum() / np.log(2) / len(text.encode("utf-16")),
            "You count UTF-16 bytes. Text is measured in UTF-8: len(text.encode()).",
        ),
        Mistake(
            lambda losses, text: len(text.encode()) * np.log(2) / losses.sum(),
            "Your fraction is upside down: bytes per bit. Bits go on top.",
        ),
        Mistake(
            lambda losses, text: losses.sum() / np.log(2),
            "You return the bits of the whole text. Divide by its bytes.",
        ),
        Mistake(
            lambda losses, text: np.exp(losses.mean()),
            "You return the perplexity, which depends on the tokenizer. Asked are bits per byte.",
        ),
    ],
)


def bits_per_byte(yours: Function) -> None:
    r"""Chapter 9, `bits_per_byte(losses, text)`: what a byte of text costs, whatever the tokenizer.

    That is $\sum_t L_t / (n_\mathrm{bytes} \log 2)$. losses is `[positions]` in nats, one a scored token; text is the
    string, measured in UTF-8 bytes.

    >>> bits_per_byte(lambda losses, text: losses.sum() / np.log(2) / len(text))
    Not yet: letters with accents (case 4 of 7).
      input     losses = [3.0, 2.0], text = 'café crème'
      got       0.7213
      expected  0.6011
      Looks like: You count characters. Beyond English a character is 2 to 4 bytes:
      len(text.encode()).
    >>> bits_per_byte(lambda losses, text: losses.sum() / np.log(2) / len(text.encode()))
    Right: all 7 cases pass.
    """
    run(yours, BITS_PER_BYTE)


_LOGITS = np.array([0.5, 2.0, -1.0, 1.5, 0.1, -2.5])
_TIED_LOGITS = np.array([1.0, 3.0, 1.0, 1.0, -2.0])

RANK_OF = Exercise(
    right=lambda logits, token: int((logits > logits[token]).sum()),
    kinds=[
        Kind("in the middle", "Count the logits above that of the token.", [(_LOGITS, t) for t in (0, 2, 3, 4)]),
        Kind("the best and the worst", "Nothing is above the best: rank 0.", [(_LOGITS, 1), (_LOGITS, 5)]),
        Kind(
            "equal logits",
            "A token with the same logit does not score higher: count > only.",
            [(_TIED_LOGITS, 0), (_TIED_LOGITS, 2), (_TIED_LOGITS, 3)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda logits, token: (logits > logits[token]).sum() + 1,
            "You count ranks from 1. Asked is how many tokens score higher: 0 for the best.",
        ),
        Mistake(
            lambda logits, token: (logits >= logits[token]).sum(),
            "You count the token itself (>=). Only tokens that score higher count: >.",
        ),
        Mistake(
            lambda logits, token: (logits >= logits[token]).sum() - 1,
            "You count tokens with the same logit. They do not score higher: >.",
        ),
        Mistake(
            lambda logits, token: int(np.flatnonzero(np.argsort(-logits, kind="stable") == token)[0]),
            "A place in the sorted order puts equal logits one after the other. Count what is above: >.",
        ),
        Mistake(
            lambda logits, token: (logits < logits[token]).sum(),
            "You count the tokens that score lower. Turn the comparison round.",
        ),
        Mistake(
            lambda logits, token: int(np.argsort(-logits, kind="stable")[token]),
            "argsort(-z)[token] is the token at that rank, not the rank of the token. Count what is above it.",
        ),
        Mistake(
            lambda logits, token: int(np.flatnonzero(np.argsort(logits, kind="stable") == token)[0]),
            "You sort upwards, so that the worst token gets rank 0. Count what is above the token.",
        ),
        Mistake(
            lambda logits, token: (np.abs(logits) > np.abs(logits[token])).sum(),
            "You compare sizes without their signs. A logit of -2.5 is low.",
        ),
        Mistake(
            lambda logits, token: (logits > token).sum(),
            "You compare logits with the id. Compare them with the token's own logit, logits[token].",
        ),
        Mistake(
            lambda logits, token: logits[token], "You return the token's logit. Asked is how many tokens score higher."
        ),
    ],
)


def rank_of(yours: Function) -> None:
    r"""Chapter 9, `rank_of(logits, token) -> int`: how many tokens score higher, $\#\{j : z_j > z_\mathrm{token}\}$.

    logits are `[vocab]`; the best token has rank 0, and a tie is not higher.

    >>> rank_of(lambda logits, token: (logits >= logits[token]).sum() - 1)
    Not yet: equal logits (case 7 of 9).
      input     logits = [1.0, 3.0, 1.0, 1.0, -2.0], token = 0
      got       3
      expected  1
      Looks like: You count tokens with the same logit. They do not score higher: >.
    >>> rank_of(lambda logits, token: (logits > logits[token]).sum())
    Right: all 9 cases pass.
    """
    run(yours, RANK_OF)


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
            [((1.0, 0.5), (1.0, 0.25))],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the new top go into exp.",
            [((1000.0, 0.5), (999.0, 0.2)), ((-1000.0, 0.0), (-1001.0, 0.5)), ((-900.0, 0.25), (900.0, 0.125))],
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
    Not yet: two pieces of a row (case 1 of 10).
      input     a = (2.0, 0.3679), b = (0.5, 0.6703)
      got       (2.0, 1.0382)
      expected  (2.0, 0.7406)
      Looks like: You add sums that count from different tops. Bring each to the new top first:
      exp(its top - top).
    >>> def merged(a, b):
    ...     low, high = sorted([a, b])
    ...     return (high[0], high[1] + (1 + low[1]) * np.exp(low[0] - high[0])) if low[0] > -np.inf else high
    >>> merge(merged)
    Right: all 10 cases pass.
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
            "one chunk",
            "With all tokens in one chunk this is the plain loss: the mean of logsumexp(z) - z[y] over the positions.",
            [
                (draw(1, 2, 2), draw(2, 2, 3), np.array([2, 0]), 3),
                (draw(3, 3, 2), draw(4, 2, 4), np.array([1, 3, 0]), 9),
            ],
        ),
        Kind(
            "chunks of equal size",
            "When the running maximum grows, the running sum must be scaled: s * exp(old m - new m).",
            [
                (draw(5, 2, 2), draw(6, 2, 4), np.array([3, 0]), 2),
                (draw(7, 3, 2), draw(8, 2, 6), np.array([1, 5, 2]), 3),
                (draw(9, 2, 3), draw(10, 3, 4), np.array([0, 2]), 1),
            ],
        ),
        Kind(
            "a smaller last chunk",
            "The vocabulary is no multiple of chunk: the last piece is smaller, and counts.",
            [
                (draw(11, 2, 2), draw(12, 2, 5), np.array([1, 3]), 2),
                (draw(13, 3, 2), draw(14, 2, 5), np.array([4, 0, 2]), 3),
            ],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the running maximum go into exp.",
            [(np.array([[500.0], [-500.0]]), np.array([[2.0, 1.999, -2.0, -1.999]]), np.array([1, 2]), 2)],
        ),
        Kind(
            "a large vocabulary",
            "Hold one chunk of logits [N, chunk] at a time. What you keep of it is a maximum and a sum a position.",
            [(draw(15, _N, 3), draw(16, 3, _V), np.arange(_N) * 63, 64)],
            max_bytes=_N * _V * 4 // 2,
        ),
    ],
    mistakes=[
        Mistake(
            lambda h, W_U, y, chunk: lmhead.cross_entropy(lmhead.unembed(h, W_U), y),
            "You make the whole logits [N, V] at once. Multiply by W_U[:, start : start + chunk], one piece at a time.",
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
      Looks like: You make the whole logits [N, V] at once. Multiply by W_U[:, start : start +
      chunk], one piece at a time.
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
