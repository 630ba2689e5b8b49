"""The same over a whole real vocabulary: every logit of a prompt that is chosen from a menu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lmhead._checks import as_floats
from lmhead.decoding import top_k, top_p
from lmhead.softmax import softmax
from lmhead.widgets._view import Figure, State, figure, grouped, menu, power_slider, slider, table, with_words

WORDS = {
    "caption": "{prompt}: the most likely of {vocab} tokens",
    "prompt": "prompt",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "token": "token",
    "logit": "logit",
    "p": "probability",
    "greedy": "greedy",
    "rest": "all others",
    "cut": "cut",
    "kept": "{kept} of {vocab} tokens kept",
    "loading": "The logits of this prompt are being loaded.",
    "draw": "Draw a token",
    "draws": "draws",
    "drawn": "drawn: {token}",
    "said": "most likely: {token}, {p}; {kept} kept",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: `p` of the labelled tokens, of the `rest`, and how many are `kept`."""
    logits = all_logits(state)
    cut = top_p(top_k(logits / state["temperature"], kept_at_most(state["top_k"], len(logits))), state["top_p"])
    p = softmax(cut)
    named = len(state["top"][state["prompt"]])
    return {"p": p[:named].tolist(), "rest": float(p[named:].sum()), "kept": int((cut > -np.inf).sum())}


def all_logits(state: State) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The chosen prompt's logits less the largest, from the largest to the smallest."""
    prompt = state["prompt"]
    tail = np.frombuffer(state[f"tail_{prompt}"], "<f2").astype(np.float64)
    return np.concatenate([state["top"][prompt], tail])


def kept_at_most(top_k: float, vocab_size: int) -> int:
    """The slider runs over powers of two and fractions of them; its end is the whole vocabulary."""
    return min(round(top_k), vocab_size)


def probabilities_of_prompts(
    prompts: Mapping[str, tuple[ArrayLike, Sequence[str]]],
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Bars of the most likely tokens, and one for all others, over every logit of a prompt chosen from a menu.

    The labelled logits are kept in float64. The others are rounded to float16 after the largest is subtracted (a
    probability is off by 3e-5 at most) and stand in the notebook as bytes, which the static page loads when the menu
    asks for them. Temperature and cuts keep the order of the logits, so they are sorted once, here.

    Args:
      prompts: for each prompt's text its logits `[vocab]` **from the largest to the smallest**, and the texts of the
        first few tokens in that order (20 read well).
      temperature: from 0.1 to 3.
      top_p: the mass that stays, from 0.05 to 1.
      words: replacements for words on the screen.

    Raises:
      ValueError: logits that are not sorted or of different lengths, more labels than logits.
    """
    words = with_words(WORDS, words)
    state: dict[str, Any] = {"prompt": 0, "temperature": temperature, "top_p": top_p}
    state |= {"prompts": list(prompts), "top": [], "largest": [], "labels": []}
    lengths = set()
    for at, (prompt, (logits, labels)) in enumerate(prompts.items()):
        z = as_floats(logits, "logits").astype(np.float64)
        if z.ndim != 1 or not 0 < len(labels) < len(z):
            raise ValueError(
                f"{prompt!r}: logits must be [vocab], more than labels; got {z.shape}, {len(labels)} labels"
            )
        if not np.isfinite(z).all() or (np.diff(z) > 0).any():
            raise ValueError(f"{prompt!r}: logits must be finite and run from the largest to the smallest")
        below = z - z[0]
        state["top"].append(below[: len(labels)].tolist())
        state["largest"].append(float(z[0]))
        state["labels"].append(list(labels))
        state[f"tail_{at}"] = below[len(labels) :].astype("<f2").tobytes()
        lengths.add(len(z))
    if len(lengths) != 1:
        raise ValueError(f"all prompts need logits over one vocabulary; got lengths {sorted(lengths)}")
    (vocab,) = lengths
    state |= {"vocab": vocab, "top_k": float(vocab)}
    p = numbers(state)["p"]
    logits = [state["largest"][0] + below for below in state["top"][0]]
    static = table(
        words["caption"].format(prompt=state["prompts"][0], vocab=grouped(vocab)),
        [words["token"], words["logit"], words["p"]],
        zip(state["labels"][0], logits, p, strict=True),
    )
    end = int(np.ceil(np.log2(vocab)))
    controls = {
        "prompt": menu(words["prompt"], state["prompts"], 0),
        "temperature": slider(words["temperature"], float(temperature), 0.1, 3.0, 0.05),
        "top_k": power_slider(words["top_k"], float(vocab), 0, end, 0.25),
        "top_p": slider(words["top_p"], float(top_p), 0.05, 1.0, 0.05),
    }
    return figure("prompts", {**state, "words": words}, controls, static)
