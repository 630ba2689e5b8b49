"""The same over a whole real vocabulary: every logit of a prompt that is chosen from a menu."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lmhead._arguments import Array
from lmhead.decoding import top_k, top_p
from lmhead.probabilities import softmax
from lmhead.smollm import Fixture
from lmhead.widgets._view import Figure, Part, State, figure, log_slider, menu, named, note, slider, table, with_words
from lmhead.widgets._write import decimals, grouped, stored

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
    "kept": "{kept} of {vocab} tokens kept",
    "loading": "The logits of this prompt are being loaded.",
    "draw": "Draw a token",
    "draws": "draws",
    "drawn": "draw {count}: {token}",
    "said": "most likely: {token}, {p}; {kept} kept",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: `p` of the labelled tokens, of the `rest`, and how many are `kept`."""
    logits = all_logits(state)
    cut = top_p(top_k(logits / state["temperature"], kept_at_most(state["top_k"], len(logits))), state["top_p"])
    p = softmax(cut)
    named = len(state["top"][state["prompt"]])
    return {"p": p[:named].tolist(), "rest": float(p[named:].sum()), "kept": int((cut > -np.inf).sum())}


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown, prompt = state["words"], numbers(state), state["prompt"]
    vocab, largest = grouped(state["vocab"]), state["largest"][prompt]
    columns = zip(state["labels"][prompt], state["top"][prompt], shown["p"], strict=True)
    rows = [
        [named(label, "" if j else words["greedy"]), decimals(largest + below), decimals(p)]
        for j, (label, below, p) in enumerate(columns)
    ]
    rows.append([words["rest"], "", decimals(shown["rest"])])
    caption = words["caption"].format(prompt=state["prompts"][prompt], vocab=vocab)
    return [
        table(caption, [words["token"], words["logit"], words["p"]], rows),
        note(words["kept"].format(kept=grouped(shown["kept"]), vocab=vocab)),
    ]


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
        state["top"].append([stored(z) for z in below])
        state["largest"].append(stored(logits[best[0]]))
        state["labels"].append([repr(fixture.tokens[token]) for token in best])  # quotes show a leading space
        state[f"tail_{at}"] = gaps[named:].astype("<f2").tobytes()
    state |= {"drawn": None, "words": words}
    controls = {
        "prompt": menu(words["prompt"], state["prompts"], 0),
        "temperature": slider(words["temperature"], float(temperature), 0.1, 3.0, 0.05),
        "top_k": log_slider(words["top_k"], state["top_k"], fixture.vocab_size),
        "top_p": slider(words["top_p"], float(top_p), 0.05, 1.0, 0.05),
    }
    return figure("prompts", state, controls, said(state))
