"""Checkers of the book's code exercises: `check.softmax(my_softmax)` runs hidden cases and prints one short result.

Every checker takes the learner's function itself, prints, and returns None. It prints one of

    Right: all 10 cases pass.
    Not written yet: replace the ... in my_softmax.
    Not yet: ...

where "Not yet" goes on with the first kind of case that fails, its input, what came out and what should have, and what
that usually means. Results may be Python numbers, lists or arrays, in float32 or float64, within a relative 1e-5.
What is printed is the same at every run.
"""

from lmhead.check.choosing import inverse_cdf, repetition_penalty, top_p
from lmhead.check.columns import cosines, winner_by_length
from lmhead.check.head import logit_from_memory, next_token, right_way_round, write
from lmhead.check.loss import chat_targets, cross_entropy, kl_divergence, masked_mean
from lmhead.check.measures import bits_per_byte, rank_of
from lmhead.check.probabilities import logits_not_probabilities, softmax
from lmhead.check.sharded import own_columns, sharded_loss
from lmhead.check.stability import log_softmax, sure_loss
from lmhead.check.streaming import merge, streaming_loss
from lmhead.check.training import name_fault, train_step
from lmhead.check.tying import above_itself, head_parameters, rows_with_gradient, tied_gradient
from lmhead.check.writes import shares

__all__ = [
    "above_itself",
    "bits_per_byte",
    "chat_targets",
    "cosines",
    "cross_entropy",
    "head_parameters",
    "inverse_cdf",
    "kl_divergence",
    "log_softmax",
    "logit_from_memory",
    "logits_not_probabilities",
    "masked_mean",
    "merge",
    "name_fault",
    "next_token",
    "own_columns",
    "rank_of",
    "repetition_penalty",
    "right_way_round",
    "rows_with_gradient",
    "sharded_loss",
    "shares",
    "softmax",
    "streaming_loss",
    "sure_loss",
    "tied_gradient",
    "top_p",
    "train_step",
    "winner_by_length",
    "write",
]
