"""Text to token ids and back, with the model's own vocabulary (byte-level BPE).

A token is a string of bytes: a word, a piece of one, a space and a word, a digit, or a part of one Chinese
character. Besides these there are special tokens, such as `<|im_start|>`, that no plain text contains.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lmhead._arguments import Array
from lmhead._extras import extra

if TYPE_CHECKING:
    import tokenizers

__all__ = ["Tokenizer", "build_tokenizer"]

SPECIAL = 3  # the token type of a special token in a GGUF file


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """The map between text and token ids.

    Attributes:
        vocab: the bytes of every token, in the order of the ids.
        special_ids: the ids of the special tokens.
    """

    vocab: tuple[bytes, ...] = field(repr=False)
    special_ids: tuple[int, ...]
    _bpe: "tokenizers.Tokenizer" = field(repr=False)

    def encode(self, text: str) -> Array:
        """The token ids of a text, `[T]`. A special token's name in the text becomes that token.

        Raises:
            ValueError: a character that is no Unicode text, such as comes of reading a file in the wrong encoding.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            where = f"character {error.start} of the text, {text[error.start]!r}"
            raise ValueError(f"{where}, is not Unicode: was it read in the wrong encoding?") from None
        return np.array(self._bpe.encode(text).ids, dtype=np.int64)

    def decode(self, ids: Iterable[int | np.integer[Any]]) -> str:
        """The text of token ids; bytes that form no character become U+FFFD."""
        return b"".join(self._bytes(i) for i in ids).decode(errors="replace")

    def token(self, id: int | np.integer[Any]) -> str:
        r"""The text of one token; bytes that form no character by themselves are written `\xe4`."""
        return self._bytes(id).decode(errors="backslashreplace")

    def id(self, token: str) -> int:
        """The id of a text that is one token, such as `" Paris"`."""
        ids = self.encode(token)
        if len(ids) != 1:
            pieces = [self.token(i) for i in ids]
            raise ValueError(
                f"{token!r} is {len(ids)} tokens, not one: {pieces}; most words are one with a space before"
            )
        return int(ids[0])

    def _bytes(self, id: int | np.integer[Any]) -> bytes:
        if not 0 <= id < len(self.vocab):  # Python would count a negative one from the end
            raise IndexError(f"token id {id} is not in the vocabulary; its ids go from 0 to {len(self.vocab) - 1}")
        return self.vocab[id]


def build_tokenizer(spellings: Sequence[str], kinds: Sequence[int], merges: Sequence[str]) -> Tokenizer:
    """The tokenizer out of a GGUF file's lists: each token's spelling and type, and the merges of BPE in order."""
    with extra("model", "load_model"):
        from tokenizers import AddedToken, models, pre_tokenizers
        from tokenizers import Tokenizer as BPE

    pairs = [(left, right) for left, _, right in (m.partition(" ") for m in merges)]
    bpe = BPE(models.BPE(vocab={s: i for i, s in enumerate(spellings)}, merges=pairs))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    special_ids = tuple(i for i, kind in enumerate(kinds) if kind == SPECIAL)
    bpe.add_special_tokens([AddedToken(spellings[i], special=True, normalized=False) for i in special_ids])
    vocab = [_bytes_of(s) for s in spellings]
    for i in special_ids:
        vocab[i] = spellings[i].encode()
    return Tokenizer(tuple(vocab), special_ids, bpe)


def _byte_alphabet() -> dict[str, int]:
    """Byte-level BPE spells each byte as one visible character: itself where it has a glyph, else 256, 257, ... ."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(b): b for b in visible} | {chr(256 + i): b for i, b in enumerate(hidden)}


BYTE_OF = _byte_alphabet()


def _bytes_of(spelling: str) -> bytes:
    return bytes(BYTE_OF[character] for character in spelling)
