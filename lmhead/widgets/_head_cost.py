"""What a head costs: memory of the logits, of a streaming buffer, multiplications, and each device's share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmhead._arguments import as_int
from lmhead.widgets._view import Figure, Part, State, figure, slider, table, with_words
from lmhead.widgets._write import grouped, size

WORDS = {
    "caption": "One step of a head, {bytes_per_number} bytes per number",
    "positions": "positions N",
    "d_model": "d_model d",
    "vocab_size": "vocabulary V",
    "chunk": "chunk of columns",
    "devices": "devices",
    "what": "what",
    "formula": "formula",
    "amount": "amount",
    "logits_bytes": "all logits",
    "buffer_bytes": "streaming buffer",
    "head_bytes": "W_U",
    "share_bytes": "W_U, each device",
    "share_logits": "logits, each device",
    "merged_bytes": "top, rest and z_y to exchange, 8 bytes each",
    "dh_bytes": "parts of dH to add up",
    "multiply_adds": "multiply-adds, forward",
    "said": "all logits {logits}, streaming buffer {buffer}",
}

FORMULAS = {
    "logits_bytes": "N V",
    "buffer_bytes": "N chunk",
    "head_bytes": "d V",
    "share_bytes": "d ⌈V / devices⌉",
    "share_logits": "N ⌈V / devices⌉",
    "merged_bytes": "3 N devices",
    "dh_bytes": "N d devices",
    "multiply_adds": "N d V",
}


def numbers(state: State) -> dict[str, Any]:
    """What the view shows: bytes by name, and the `multiply_adds` of the product h W_U."""
    n, d, v, width = state["positions"], state["d_model"], state["vocab_size"], state["bytes_per_number"]
    share = -(-v // state["devices"])
    return {
        "logits_bytes": n * v * width,
        "buffer_bytes": n * min(state["chunk"], v) * width,
        "head_bytes": d * v * width,
        "share_bytes": d * share * width,
        "share_logits": n * share * width,
        "merged_bytes": 3 * n * state["devices"] * 8,  # in float64
        "dh_bytes": n * d * state["devices"] * width,
        "multiply_adds": n * d * v,
    }


def said(state: State) -> list[Part]:
    """Its words and numbers."""
    words = state["words"]
    rows = [
        [words[name], FORMULAS[name], grouped(amount) if name == "multiply_adds" else size(amount)]
        for name, amount in numbers(state).items()
    ]
    return [table(words["caption"], [words["what"], words["formula"], words["amount"]], rows)]


def head_cost(
    positions: int = 8192,
    d_model: int = 4096,
    vocab_size: int = 128_256,
    *,
    chunk: int = 2048,
    devices: int = 1,
    bytes_per_number: int = 4,
    words: Mapping[str, str] | None = None,
) -> Figure:
    """Bytes of the logits, of a buffer of one chunk of columns, of a device's share, and of what devices exchange.

    Args:
      positions: N, a multiple of 256 from 256 to 65,536.
      d_model: d, a multiple of 32 from 32 to 16,384.
      vocab_size: V, a multiple of 32 from 32 to 262,144.
      chunk: columns of W_U that are worked on at once, a multiple of 256 from 256 to 16,384.
      devices: over how many devices the vocabulary is split, 1 to 16.
      bytes_per_number: 4 for float32, 2 for bfloat16 and float16.
      words: replacements for words on the screen.

    Raises:
      ValueError: a size outside its slider.
    """
    limits = {
        "positions": (positions, 256, 65_536, 256),
        "d_model": (d_model, 32, 16_384, 32),
        "vocab_size": (vocab_size, 32, 262_144, 32),
        "chunk": (chunk, 256, 16_384, 256),
        "devices": (devices, 1, 16, 1),
    }
    for name, (value, low, high, step) in limits.items():
        if not low <= as_int(value, name) <= high or value % step:
            raise ValueError(f"{name} must be a multiple of {step} from {low} to {high}; got {value}")
    words = with_words(WORDS, words)
    words["caption"] = words["caption"].format(bytes_per_number=bytes_per_number)
    state: dict[str, Any] = {name: limit[0] for name, limit in limits.items()}
    state |= {"bytes_per_number": bytes_per_number, "formulas": FORMULAS, "words": words}
    controls = {name: slider(words[name], *limit) for name, limit in limits.items()}
    return figure("head_cost", state, controls, said(state), needs=["scene"])
