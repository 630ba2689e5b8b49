"""Text to token ids and back, with the model's own vocabulary (byte-level BPE).

A token is a string of bytes: a word, a piece of one, a space and a word, a digit, or a part of one Chinese
character. Besides these there are special tokens, such as `<|im_start|>`, that no plain text contains.

What stands **before** a text changes what the model expects after it. Its file asks for no start token
(`add_bos_token` is false), so the caller says what stands there, by one of three names:

    "none"   nothing
    "text"   <|endoftext|>, the vocabulary's token for the border of two documents
    "chat"   the model's chat template up to the user's turn, in which the text stands and is continued
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lmhead._arguments import Array
from lmhead._extras import extra

if TYPE_CHECKING:
    import tokenizers

__all__ = ["STARTS", "Tokenizer", "build_tokenizer", "start_of"]

SPECIAL = 3  # the token type of a special token in a GGUF file

STARTS: Mapping[str, str] = MappingProxyType(
    {
        "none": "",
        "text": "<|endoftext|>",
        "chat": "<|im_start|>system\n"  # the template adds this system prompt where a chat has none
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\n",
    }
)


def start_of(text: str, start: str) -> str:
    """What is to be put before a text: "" if it begins with a start of its own, since none is ever added twice.

    Raises:
        ValueError: `start` is none of "none", "text" and "chat".

    >>> start_of("Once upon a time", "text")
    '<|endoftext|>'
    >>> start_of("<|endoftext|>Once upon a time", "text")
    ''
    """
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(map(repr, STARTS))}; got {start!r}")
    has_its_own = text.startswith(("<|endoftext|>", "<|im_start|>"))
    return "" if has_its_own else STARTS[start]


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

    def encode(self, text: str, start: str = "none") -> Array:
        """The token ids of a text, `[T]`. A special token's name in the text becomes that token.

        Args:
            text: what the model is to read.
            start: what stands before it, "none", "text" or "chat" (see the head of this file); a text that begins with
                `<|endoftext|>` or `<|im_start|>` has its start already, and gets no second one.

        Raises:
            ValueError: a character that is no Unicode text, such as comes of reading a file in the wrong encoding; a
                `start` that is none of the three.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            where = f"character {error.start} of the text, {text[error.start]!r}"
            raise ValueError(f"{where}, is not Unicode: was it read in the wrong encoding?") from None
        return np.array(self._bpe.encode(start_of(text, start) + text).ids, dtype=np.int64)

    def count_before(self, text: str, start: str) -> int:
        """How many tokens of `encode(text, start)` stand wholly before the text.

        A line break that ends the start of a chat may be one token with a line break that begins the text.
        """
        ends = np.cumsum([len(self.vocab[i]) for i in self.encode(text, start)])  # in bytes
        return int(np.searchsorted(ends, len(start_of(text, start).encode()), side="right"))

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
