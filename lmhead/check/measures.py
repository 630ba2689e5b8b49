"""Chapter 12: what a text costs in units that compare, and where a token stands among all."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead.check.run import Exercise, Function, Kind, Mistake, run

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
            [(np.array([3.0, 2.0]), "crème"), (np.array([1.0, 2.5, 0.3]), "Größe")],
        ),
        Kind(
            "Chinese, and a picture",
            "A Chinese character is three bytes in UTF-8, an emoji four: len(text.encode()).",
            [(np.array([2.5, 1.5]), "语言模型"), (np.array([5.0, 1.0, 2.0]), "🐈🐈🐕")],
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
    r"""Chapter 12, `bits_per_byte(losses, text)`: what a byte of text costs, whatever the tokenizer.

    That is $\sum_t L_t / (n_\mathrm{bytes} \log 2)$. losses is `[positions]` in nats, one a scored token; text is the
    string, measured in UTF-8 bytes.

    >>> bits_per_byte(lambda losses, text: losses.sum() / np.log(2) / len(text))
    Not yet: letters with accents (case 4 of 7).
      input     losses = [3.0, 2.0], text = 'crème'
      got       1.4427
      expected  1.2022
      Looks like: You count characters. Beyond English a character is 2 to 4 bytes:
      len(text.encode()).
    >>> bits_per_byte(lambda losses, text: losses.sum() / np.log(2) / len(text.encode()))
    Right: all 7 cases pass.
    """
    run(yours, BITS_PER_BYTE)


_LOGITS = np.array([0.5, 2.0, -1.0, 1.5, 0.1, -2.5])
_TIED_LOGITS = np.array([1.0, 3.0, 1.0, 1.0, 0.5])

RANK_OF = Exercise(
    right=lambda logits, token: int((logits > logits[token]).sum()),
    kinds=[
        Kind(
            "different logits",
            "Count the logits above that of the token. Nothing is above the best: rank 0.",
            [(_LOGITS, token) for token in (0, 2, 3, 4, 1, 5)],
        ),
        Kind(
            "equal logits",
            "A token with the same logit does not score higher, and three that are equal are three: count > only.",
            [(_TIED_LOGITS, token) for token in (0, 2, 3, 4)],
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
        Mistake(
            lambda logits, token: len(np.unique(logits[logits > logits[token]])),
            "You count different values. Three tokens with the same logit are three that score higher.",
        ),
    ],
)


def rank_of(yours: Function) -> None:
    r"""Chapter 12, `rank_of(logits, token) -> int`: how many tokens score higher, $\#\{j : z_j > z_\mathrm{token}\}$.

    logits are `[vocab]`; the best token has rank 0, and a tie is not higher.

    >>> rank_of(lambda logits, token: (logits >= logits[token]).sum() - 1)
    Not yet: equal logits (case 7 of 10).
      input     logits = [1.0, 3.0, 1.0, 1.0, 0.5], token = 0
      got       3
      expected  1
      Looks like: You count tokens with the same logit. They do not score higher: >.
    >>> rank_of(lambda logits, token: (logits > logits[token]).sum())
    Right: all 10 cases pass.
    """
    run(yours, RANK_OF)
