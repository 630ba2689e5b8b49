"""The arrays of a head, to scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmhead._arguments import as_int
from lmhead.widgets._view import Figure, Part, State, figure, slider, table, tick_box, with_words
from lmhead.widgets._write import grouped, size

WORDS = {
    "caption": "The arrays of a head, {bytes_per_number} bytes per number",
    "d_model": "d_model",
    "vocab_size": "vocabulary",
    "positions": "positions",
    "tied": "tied: W_U is a view of E",
    "array": "array",
    "shape": "shape",
    "count": "numbers",
    "bytes": "memory",
    "E": "E",
    "h": "h",
    "W_U": "W_U",
    "logits": "logits",
    "view": "0 B, a view",
    "parameters": "parameters",
    "picture": "Areas are to scale; the longer side is drawn shorter than it is.",
    "said": "W_U {W_U} numbers, {bytes}; logits {logits} numbers",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: how many numbers each array holds, and the `parameters` stored for E and W_U together."""
    d_model, vocab_size, positions = state["d_model"], state["vocab_size"], state["positions"]
    matrix = d_model * vocab_size
    return {
        "E": matrix,
        "h": positions * d_model,
        "W_U": matrix,
        "logits": positions * vocab_size,
        "parameters": matrix if state["tied"] else 2 * matrix,
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words, shown = state["words"], numbers(state)
    d_model, vocab_size, positions = state["d_model"], state["vocab_size"], state["positions"]
    sides = {"E": (vocab_size, d_model), "h": (positions, d_model)}
    sides |= {"W_U": (d_model, vocab_size), "logits": (positions, vocab_size)}

    def memory(name: str) -> str:
        return words["view"] if state["tied"] and name == "W_U" else size(shown[name] * state["bytes_per_number"])

    rows = [
        [words[name], f"{height:,} × {width:,}", grouped(shown[name]), memory(name)]
        for name, (height, width) in sides.items()
    ]
    rows.append([words["parameters"], "", grouped(shown["parameters"]), memory("parameters")])
    headings = [words[key] for key in ("array", "shape", "count", "bytes")]
    return [table(words["caption"], headings, rows)]


def shapes(
    d_model: int = 512,
    vocab_size: int = 100_000,
    positions: int = 5,
    *,
    tied: bool = False,
    bytes_per_number: int = 4,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Areas to scale: h `[positions, d_model]`, W_U `[d_model, vocab]` and the logits `[positions, vocab]`.

    The embedding E `[vocab, d_model]` stands beside them, with a check box that ties W_U to it.

    Args:
      d_model: a multiple of 32 from 32 to 8192.
      vocab_size: a multiple of 32 from 32 to 262,144.
      positions: from 1 to 2048.
      tied: whether W_U is a view of E.
      bytes_per_number: 4 for float32, 2 for bfloat16 and float16.
      words: replacements for words on the screen.

    Raises:
      ValueError: a size outside its slider.
    """
    for name, value, most in (("d_model", d_model, 8192), ("vocab_size", vocab_size, 262_144)):
        if not 32 <= as_int(value, name) <= most or value % 32:
            raise ValueError(f"{name} must be a multiple of 32 from 32 to {most}; got {value}")
    if not 1 <= as_int(positions, "positions") <= 2048:
        raise ValueError(f"positions must be 1 to 2048; got {positions}")
    words = with_words(WORDS, words)
    words["caption"] = words["caption"].format(bytes_per_number=bytes_per_number)
    state: dict[str, Any] = {"d_model": d_model, "vocab_size": vocab_size, "positions": positions, "tied": tied}
    state |= {"bytes_per_number": bytes_per_number, "words": words}
    controls = {
        "d_model": slider(words["d_model"], d_model, 32, 8192, 32),
        "vocab_size": slider(words["vocab_size"], vocab_size, 32, 262_144, 32),
        "positions": slider(words["positions"], positions, 1, 2048, 1),
        "tied": tick_box(words["tied"], tied),
    }
    return figure("shapes", state, controls, said(state), needs=[])
