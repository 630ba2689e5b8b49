"""The output layer of a language model, in NumPy: hidden state -> W_U -> logits -> softmax -> cross-entropy."""

from __future__ import annotations

import importlib
from typing import Any

from lmhead.decoding import greedy, gumbel_argmax, min_p, sample, top_k, top_p
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
from lmhead.probabilities import log_softmax, logsumexp, softmax
from lmhead.streaming import (
    LogSumExp,
    merge,
    merge_all,
    streaming_cross_entropy,
    streaming_head_grads,
    summarize,
)

__version__ = "0.1.0"  # pyproject.toml reads it here

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
    "merge_all",
    "min_p",
    "perplexity",
    "sample",
    "shift_targets",
    "softmax",
    "streaming_cross_entropy",
    "streaming_head_grads",
    "summarize",
    "tie",
    "tied_grad",
    "top_k",
    "top_p",
    "unembed",
]

_ON_FIRST_USE = ("check", "names", "plots", "quiz", "sharded", "smollm", "widgets")  # `import lmhead` needs NumPy alone


def __getattr__(name: str) -> Any:
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module 'lmhead' has no attribute {name!r}")
    return importlib.import_module("lmhead.widgets.quiz" if name == "quiz" else f"lmhead.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE})
