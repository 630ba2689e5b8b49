"""A slice of the real model, small enough to travel in this package: what its head reads, and the columns it scores.

The fixture holds a few prompts and some hundred of the 49,152 columns of W_U: of every token that the prompts contain,
that one of their positions scores highest, or that a chapter shows. All other tokens are folded into **one more
logit**, the last of each row: the log-sum-exp of theirs. Softmax cannot tell the difference, so probabilities and
losses of the stored tokens are those of the whole vocabulary, exact to 10 decimals.

What stands **before** a text changes what follows it, so each short prompt is stored with three starts: "none" (nothing
before it), "text" (`<|endoftext|>`) and "chat" (the chat template up to the user's turn, in which the text stands).

The model is quantised, its matrices to 4 bits and its head to 8 (Q8_0), and all numbers are those of this file.
`tools/make_fixture.py` makes the fixture. Model: SmolLM2-135M-Instruct, Apache-2.0; see `lmhead/data/README.md`.
"""

import io
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np

from lmhead._arguments import Array
from lmhead.head import unembed
from lmhead.loss import shift_targets
from lmhead.smollm.model import rms_norm, write_names
from lmhead.smollm.tokenizer import STARTS

__all__ = ["Fixture", "Prompt", "load_fixture"]

X_STEP = 2.0**-34  # 5.8e-11, of numbers of size 20 to 400: what x is rounded to, see tools/make_fixture.py


@dataclass(frozen=True, eq=False)
class Prompt:
    """One text after one start, and what the model makes of it. n stored columns, and T rows.

    With "none" there is a row for each token of the text. With "text" and "chat" there is **one more, the first**: the
    last token of what stands before, which predicts the first token of the text.

    Attributes:
        text: the prompt, without what stands before it.
        start: "none", "text" or "chat".
        before: what stands before the text: "" or `<|endoftext|>` or the opening of a chat.
        ids: `[T]` int64, the token ids of the rows.
        tokens: T strings, the text of each.
        x: `[T, d_model]` float64, the residual stream after layer 30, before the final norm.
        h: `[T, d_model]` float64, the same after the final norm: what the head reads.
        logits: `[T, n + 1]` float64, the score of each stored token, in the order of `Fixture.ids`; the last column is
            the log-sum-exp of all tokens that are not stored.
        targets: `[T]` int64, the column of `logits` that is the right answer at each position: where the next token is
            stored. -100 at the last position, and in the chat wherever the next token is not the assistant's.
        gaps: `[vocab_size]` float16, the last position's logits of the **whole** vocabulary less the largest, in
            falling order from 0; None for the long texts. A probability made of them is off by at most 6e-5.
        shares: for pairs of tokens (a, b), `[61]` float64: what each of `Fixture.writes` gives to z(a) - z(b) at the
            last position, the norm's scale held fixed (`gap_shares`); they sum to the gap within 1e-9. Pairs that are
            stored the other way round are not found.
    """

    text: str
    start: str
    before: str = field(repr=False)
    ids: Array = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    x: Array = field(repr=False)
    h: Array = field(repr=False)
    logits: Array = field(repr=False)
    targets: Array = field(repr=False)
    gaps: Array | None = field(repr=False)
    shares: dict[tuple[str, str], Array] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Fixture:
    r"""The real head in small: n of its columns, and the prompts.

    Attributes:
        prompts: by name, with nothing before them. A short prompt's name is its text; the others are "paragraph" and
            "chat". The method `prompt` gives a short one with another start.
        losses: by name and start, in nats: the loss of each token of the text that is predicted. With "none" the first
            token is not, so that `losses[name, "text"][1:]` and `losses[name, "none"]` are over the same targets.
        ids: `[n]` int64, rising: the token ids of the stored columns.
        tokens: n strings, their texts; bytes that form no character by themselves are written `\xe4`.
        W_U: `[d_model, n]` float32, their columns, exactly the model's. The head is tied: `W_U.T` holds rows of E.
        column_norms: `[vocab_size]` float16, the length of **every** column, by token id.
        writes: 61 names, of what the residual stream adds up: "embedding", "attention 1", "feed-forward 1", ... .
        kinds: examples of each kind of token in the vocabulary: a name, and texts of stored tokens.
        vocab_size: 49,152.
        d_model: 576.
    """

    prompts: dict[str, Prompt] = field(repr=False)
    losses: dict[tuple[str, str], Array] = field(repr=False)
    ids: Array = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    W_U: Array = field(repr=False)
    column_norms: Array = field(repr=False)
    writes: tuple[str, ...] = field(repr=False)
    kinds: dict[str, tuple[str, ...]] = field(repr=False)
    vocab_size: int
    d_model: int
    _prompts: dict[tuple[str, str], Prompt] = field(repr=False)

    def prompt(self, name: str, start: str) -> Prompt:
        """A prompt with what stands before it: "none" (nothing), "text" (`<|endoftext|>`) or "chat" (a user's turn).

        >>> fixture = load_fixture()
        >>> for start in "none", "text", "chat":
        ...     logits = fixture.prompt("The cat sat on the", start).logits[-1]
        ...     print(start, repr(fixture.tokens[logits[:-1].argmax()]))
        none ' cat'
        text ' mat'
        chat ' mat'

        Raises:
            KeyError: a prompt that is not stored, or not with this start; its losses may be, in `losses`.
        """
        if (name, start) in self._prompts:
            return self._prompts[name, start]
        if start not in STARTS:
            raise KeyError(f"start is one of {', '.join(map(repr, STARTS))}; got {start!r}")
        if name in self.prompts:
            raise KeyError(f"{name!r} is stored with nothing before it, start 'none'; see losses for other starts")
        raise KeyError(f"{name!r} is not stored; stored are {', '.join(map(repr, self.prompts))}")

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

    x_of_row = _x(arrays["x"])  # [rows, d_model]; texts that begin alike share rows
    prompts, losses = {}, {}
    for number, key in enumerate(zip(arrays["names"].tolist(), arrays["starts"].tolist(), strict=True)):
        losses[key] = arrays[f"{number}.losses"]
        if f"{number}.rows" not in arrays:
            continue
        row_ids, rows, lse_rest, scored = (arrays[f"{number}.{part}"] for part in ("ids", "rows", "lse_rest", "scored"))
        columns = np.searchsorted(ids, row_ids)
        x = x_of_row[rows]
        h = rms_norm(x, arrays["gain"], float(arrays["eps"]))
        steps = arrays.get(f"{number}.steps")
        pairs, shares = (arrays.get(f"{number}.{part}", np.empty(0)) for part in ("pairs", "shares"))
        prompts[key] = Prompt(
            text=str(arrays["texts"][number]),
            start=key[1],
            before=STARTS[key[1]],
            ids=row_ids.astype(np.int64),
            tokens=tuple(tokens[i] for i in columns),
            x=x,
            h=h,
            logits=np.column_stack([unembed(h, W_U), lse_rest]),
            targets=shift_targets(columns, scored),
            gaps=None if steps is None else _gaps(steps),
            shares={(tokens[a], tokens[b]): of_pair for (a, b), of_pair in zip(pairs, shares, strict=True)},
        )
    kinds = {kind: tuple(tokens[i] for i in arrays[f"kind.{kind}"]) for kind in arrays["kinds"].tolist()}
    norms = arrays["column_norms"]
    return Fixture(
        prompts={name: prompt for (name, start), prompt in prompts.items() if start == "none"},
        losses=losses,
        ids=ids,
        tokens=tokens,
        W_U=W_U,
        column_norms=norms,
        writes=write_names(int(arrays["n_layers"])),
        kinds=kinds,
        vocab_size=len(norms),
        d_model=len(W_U),
        _prompts=prompts,
    )


def _x(planes: Array) -> Array:
    """Multiples of `X_STEP`, stored as unsigned integers, byte by byte: 0, -1, 1, -2, 2, ... are 0, 1, 2, 3, 4, ..."""
    unsigned = np.zeros(planes.shape[1:], dtype=np.int64)
    for i, plane in enumerate(planes):
        unsigned |= plane.astype(np.int64) << (8 * i)
    return ((unsigned >> 1) ^ -(unsigned & 1)) * X_STEP


def _gaps(steps: Array) -> Array:
    """Falling float16 numbers from -0.0, stored as the steps of their bit patterns: most are 0 or 1."""
    return np.cumsum(steps, dtype=np.uint16).view(np.float16)
