"""The output layer of a language model, in NumPy: hidden state -> W_U -> logits -> softmax -> cross-entropy."""

from __future__ import annotations

import importlib
from typing import Any

from lmhead.decoding import greedy, gumbel_argmax, sample, top_k, top_p
from lmhead.head import tie, unembed
from lmhead.loss import (
    HeadGrads,
    bits_per_byte,
    cross_entropy,
    cross_entropy_grad,
    head_grads,
    perplexity,
    shift_targets,
    tied_grad,
)
from lmhead.softmax import log_softmax, logsumexp, softmax
from lmhead.streaming import LogSumExp, merge, streaming_cross_entropy, streaming_head_grads

__all__ = [
    "HeadGrads",
    "LogSumExp",
    "bits_per_byte",
    "cross_entropy",
    "cross_entropy_grad",
    "greedy",
    "gumbel_argmax",
    "head_grads",
    "log_softmax",
    "logsumexp",
    "merge",
    "perplexity",
    "sample",
    "shift_targets",
    "softmax",
    "streaming_cross_entropy",
    "streaming_head_grads",
    "tie",
    "tied_grad",
    "top_k",
    "top_p",
    "unembed",
]

# Imported when first used: `import lmhead` needs NumPy alone. The value is the extra that brings what is missing.
_LAZY = {"check": "", "plots": "plots", "quiz": "widgets", "smollm": "model", "widgets": "widgets"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lmhead' has no attribute {name!r}")
    try:
        return importlib.import_module(f"lmhead.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("lmhead"):
            raise
        message = f"lmhead.{name} needs {missing.name}: pip install 'lmhead[{_LAZY[name]}]'"
        raise ModuleNotFoundError(message, name=missing.name) from None
