"""A slice of the real model, small enough to travel in this package: what its head reads, and the columns it scores.

The fixture holds a few prompts and some hundred of the 49,152 columns of W_U: of every token that the prompts contain,
that one of their positions scores highest, or that a chapter shows. All other tokens are folded into **one more
logit**, the last of each row: the log-sum-exp of theirs. Softmax cannot tell the difference, so probabilities and
losses of the stored tokens are those of the whole vocabulary, exact to 10 decimals.

`tools/make_fixture.py` makes the file. Model: SmolLM2-135M-Instruct, Apache-2.0; see `lmhead/data/README.md`.
"""

import io
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np

from lmhead._arguments import Array
from lmhead.head import unembed
from lmhead.loss import shift_targets
from lmhead.smollm.model import rms_norm

__all__ = ["Fixture", "Prompt", "load_fixture"]


@dataclass(frozen=True, eq=False)
class Prompt:
    """One text, and what the model makes of it. T tokens, n stored columns.

    Attributes:
        text: the prompt.
        ids: `[T]` int64, its token ids.
        tokens: T strings, the text of each.
        x: `[T, d_model]` float64, the residual stream after layer 30, before the final norm.
        h: `[T, d_model]` float64, the same after the final norm: what the head reads.
        logits: `[T, n + 1]` float64, the score of each stored token, in the order of `Fixture.ids`; the last column is
            the log-sum-exp of all tokens that are not stored.
        targets: `[T]` int64, the column of `logits` that is the right answer at each position: where the next token is
            stored. -100 at the last position, and in the chat wherever the next token is not the assistant's.
        gaps: `[vocab_size]` float16, the last position's logits of the **whole** vocabulary less the largest, in
            falling order from 0; None for the long texts. A probability made of them is off by at most 5e-5.
    """

    text: str
    ids: Array = field(repr=False)
    tokens: tuple[str, ...]
    x: Array = field(repr=False)
    h: Array = field(repr=False)
    logits: Array = field(repr=False)
    targets: Array = field(repr=False)
    gaps: Array | None = field(repr=False)


@dataclass(frozen=True, eq=False)
class Fixture:
    r"""The real head in small: n of its columns, and the prompts.

    Attributes:
        prompts: by name. A short prompt's name is its text; the others are "paragraph" and "chat".
        ids: `[n]` int64, rising: the token ids of the stored columns.
        tokens: n strings, their texts; bytes that form no character by themselves are written `\xe4`.
        W_U: `[d_model, n]` float32, their columns, exactly the model's. The head is tied: `W_U.T` holds rows of E.
        column_norms: `[vocab_size]` float16, the length of **every** column, by token id.
        kinds: examples of each kind of token in the vocabulary: a name, and texts of stored tokens.
        vocab_size: 49,152.
        d_model: 576.
    """

    prompts: dict[str, Prompt] = field(repr=False)
    ids: Array = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    W_U: Array = field(repr=False)
    column_norms: Array = field(repr=False)
    kinds: dict[str, tuple[str, ...]] = field(repr=False)
    vocab_size: int
    d_model: int

    def index(self, token: str) -> int:
        """Where a token is stored: its place in `tokens`, `ids`, the columns of `W_U` and those of a prompt's logits.

        Raises:
            KeyError: a text that is not a stored token; most words are stored with a space before.
        """
        if not isinstance(token, str):
            raise TypeError(
                f"index takes the text of a token; got {token!r} (an id's place is where fixture.ids has it)"
            )
        if token in self.tokens:
            return self.tokens.index(token)
        near = [t for t in self.tokens if t.strip().lower() == token.strip().lower()]
        hint = f"; stored is {near}" if near else f": the fixture holds {len(self.tokens)} of {self.vocab_size} tokens"
        raise KeyError(f"{token!r} is not stored{hint}")


def load_fixture() -> Fixture:
    """The fixture out of this package. Needs NumPy alone, and no network.

    >>> from lmhead import softmax
    >>> fixture = load_fixture()
    >>> cat = fixture.prompts["The cat sat on the"]
    >>> cat.h.shape
    (5, 576)
    >>> p = softmax(cat.logits[-1])
    >>> top = int(p[:-1].argmax())  # p[-1] belongs to all the tokens that are not stored
    >>> fixture.tokens[top], float(p[top].round(4))
    (' cat', 0.0713)
    """
    data = files("lmhead").joinpath("data", "smollm2.npz").read_bytes()
    with np.load(io.BytesIO(data)) as stored:
        arrays = dict(stored)

    ids = arrays["ids"].astype(np.int64)
    tokens = tuple(arrays["tokens"].tolist())
    # Q8_0: 32 numbers of a column share one scale
    W_U = (arrays["q"] * arrays["scale"].astype(np.float32)[..., None]).reshape(len(ids), -1).T

    prompts = {}
    for number, name in enumerate(arrays["names"].tolist()):
        prompt_ids, x, lse_rest, scored = (arrays[f"{number}.{part}"] for part in ("ids", "x", "lse_rest", "scored"))
        columns = np.searchsorted(ids, prompt_ids)
        h = rms_norm(x, arrays["gain"], float(arrays["eps"]))
        steps = arrays.get(f"{number}.steps")
        prompts[name] = Prompt(
            text=str(arrays["texts"][number]),
            ids=prompt_ids.astype(np.int64),
            tokens=tuple(tokens[i] for i in columns),
            x=x,
            h=h,
            logits=np.column_stack([unembed(h, W_U), lse_rest]),
            targets=shift_targets(columns, scored),
            gaps=None if steps is None else _gaps(steps),
        )
    kinds = {kind: tuple(tokens[i] for i in arrays[f"kind.{kind}"]) for kind in arrays["kinds"].tolist()}
    norms = arrays["column_norms"]
    return Fixture(prompts, ids, tokens, W_U, norms, kinds, vocab_size=len(norms), d_model=len(W_U))


def _gaps(steps: Array) -> Array:
    """Falling float16 numbers from -0.0, stored as the steps of their bit patterns: most are 0 or 1."""
    return np.cumsum(steps, dtype=np.uint16).view(np.float16)
