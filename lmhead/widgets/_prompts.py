"""The same over a whole real vocabulary: every logit of a prompt that is chosen from a menu."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lmhead._arguments import Array
from lmhead.decoding import top_k, top_p
from lmhead.probabilities import softmax
from lmhead.smollm import Fixture
from lmhead.widgets._view import Figure, State, figure, grouped, log_slider, menu, slider, table, with_words

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


def all_logits(state: State) -> Array:
    """The chosen prompt's logits less the largest, from the largest to the smallest."""
    prompt = state["prompt"]
    tail = np.frombuffer(state[f"tail_{prompt}"], "<f2").astype(np.float64)
    return np.concatenate([state["top"][prompt], tail])


def kept_at_most(top_k: float, vocab_size: int) -> int:
    """The slider runs over ratios, so its values are not whole; its end is the whole vocabulary."""
    return min(int(top_k + 0.5), vocab_size)


def probabilities_of_prompts(
    fixture: Fixture,
    *,
    start: str = "none",
    named: int = 20,
    temperature: float = 1.0,
    top_p: float = 1.0,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Bars of the most likely tokens, and one for all others, over every logit of a prompt chosen from a menu.

    The named tokens' logits are kept in float64, all others in float16 less the largest (`Prompt.gaps`), which puts a
    probability off by 5e-5 at most. Those stand in the notebook as bytes, which the static page loads when the menu
    asks for them. Temperature and cuts keep the order of the logits, so no sorting is left to the browser.

    Args:
      fixture: as `lmhead.smollm.load_fixture()` gives it; the menu lists its prompts that have `gaps`.
      start: what stands before the prompts, "none", "text" or "chat", as in `Fixture.prompt`.
      named: how many of the most likely tokens have a bar of their own.
      temperature: from 0.1 to 3.
      top_p: the mass that stays, from 0.05 to 1.
      words: replacements for words on the screen.

    Raises:
      ValueError: a setting outside its slider, or more names than the fixture stores.
    """
    if not (0.1 <= temperature <= 3 and 0.05 <= top_p <= 1):
        raise ValueError(f"temperature must be 0.1 to 3, top_p 0.05 to 1; got {temperature}, {top_p}")
    words = with_words(WORDS, words)
    started = [fixture.prompt(name, start) for name, prompt in fixture.prompts.items() if prompt.gaps is not None]
    prompts = [(prompt, prompt.gaps) for prompt in started if prompt.gaps is not None]
    state: dict[str, Any] = {"prompt": 0, "temperature": temperature, "top_p": top_p}
    state |= {"prompts": [prompt.text for prompt, _ in prompts], "vocab": fixture.vocab_size}
    state |= {"top_k": float(fixture.vocab_size), "top": [], "largest": [], "labels": []}
    for at, (prompt, gaps) in enumerate(prompts):
        logits = prompt.logits[-1, :-1]  # the last column is all other tokens
        best = np.argsort(-logits, kind="stable")[:named]
        below = logits[best] - logits[best[0]]
        if len(best) < named or not np.allclose(below, gaps[:named], rtol=1e-3, atol=0):
            raise ValueError(f"the fixture does not store the {named} most likely tokens of {prompt.text!r}")
        state["top"].append(below.tolist())
        state["largest"].append(float(logits[best[0]]))
        state["labels"].append([repr(fixture.tokens[token]) for token in best])  # quotes show a leading space
        state[f"tail_{at}"] = gaps[named:].astype("<f2").tobytes()
    rows = zip(state["labels"][0], state["top"][0], numbers(state)["p"], strict=True)
    static = table(
        words["caption"].format(prompt=state["prompts"][0], vocab=grouped(fixture.vocab_size)),
        [words["token"], words["logit"], words["p"]],
        [[label, state["largest"][0] + below, p] for label, below, p in rows],
    )
    controls = {
        "prompt": menu(words["prompt"], state["prompts"], 0),
        "temperature": slider(words["temperature"], float(temperature), 0.1, 3.0, 0.05),
        "top_k": log_slider(words["top_k"], state["top_k"], fixture.vocab_size),
        "top_p": slider(words["top_p"], float(top_p), 0.05, 1.0, 0.05),
    }
    return figure("prompts", {**state, "words": words}, controls, static)
