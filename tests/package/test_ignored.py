"""What an ignored position must not change, in any verb that takes `ignore_index`: a type, or a name in an error.

That nothing in its row is looked at is tested beside each verb.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

import lmhead
from lmhead import cross_entropy, cross_entropy_grad, head_grads, sharded, streaming_cross_entropy, streaming_head_grads
from lmhead.sharded import Shard, backward, forward, loss, together

H = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0], [-1.0, 1.0]])
W_U = np.array([[1.0, 0.0, 0.5, 2.0, -1.0], [0.0, 1.0, 0.5, -2.0, 1.0]])
Y = np.array([4, 1, 2, 1])
IGNORED = [-100, 0, 3]


def shards_of(W_U: Any) -> list[Shard]:
    return [Shard(W_U[:, :2], 0, W_U.shape[1]), Shard(W_U[:, 2:], 2, W_U.shape[1])]


def message_of(h: Any, W_U: Any, y: Any, **o: Any) -> Any:
    return together([forward(h, shard, y, **o) for shard in shards_of(W_U)])


def both(function: Any, *arguments: Any, **o: Any) -> list[Any]:
    """The losses, and their mean."""
    return [function(*arguments, reduction=reduction, **o) for reduction in ("none", "mean")]


VERBS = {
    "cross_entropy": lambda h, W_U, y, **o: both(cross_entropy, h @ W_U, y, **o),
    "cross_entropy_grad": lambda h, W_U, y, **o: [cross_entropy_grad(h @ W_U, y, **o)],
    "head_grads": lambda h, W_U, y, **o: head_grads(h, W_U, y, b=W_U[0], **o),
    "streaming_cross_entropy": lambda h, W_U, y, **o: both(streaming_cross_entropy, h, W_U, y, chunk=2, **o),
    "streaming_head_grads": lambda h, W_U, y, **o: streaming_head_grads(h, W_U, y, chunk=2, **o)[1][:2],
    "streaming_head_grads, recomputing": lambda h, W_U, y, **o: streaming_head_grads(
        h, W_U, y, chunk=2, recompute=True, **o
    )[1][:2],
    "forward": lambda h, W_U, y, **o: [message_of(h, W_U, y, **o)],
    "loss": lambda h, W_U, y, **o: both(loss, message_of(h, W_U, y, **o), y, **o),
    "backward": lambda h, W_U, y, **o: [
        array for shard in shards_of(W_U) for array in backward(h, shard, y, message_of(h, W_U, y, **o), **o)[:2]
    ],
}
every_verb = pytest.mark.parametrize("verb", VERBS)


def test_none_is_left_out() -> None:
    """`shift_targets` makes ignored positions, and has its own tests."""
    named = {
        name
        for module in (lmhead, sharded)
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        and "ignore_index" in inspect.signature(function).parameters
    }
    assert named - {"shift_targets"} == {name.partition(",")[0] for name in VERBS}


@every_verb
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("ignore_index", IGNORED)
def test_it_changes_no_type(verb: str, dtype: Any, ignore_index: int) -> None:
    h, W = np.asarray(H, dtype), np.asarray(W_U, dtype)
    some = np.where([True, False, False, True], Y, ignore_index)
    every = VERBS[verb](h, W, Y, ignore_index=-100)
    for one, other in zip(VERBS[verb](h, W, some, ignore_index=ignore_index), every, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape


W_200, Y_200 = np.random.default_rng(1).normal(size=(2, 200)), np.array([156, 4, 199, 0])


@functools.cache
def of_200_tokens(verb: str, dtype: Any, ignore_index: int) -> list[Any]:
    """What a verb gives for a vocabulary whose last ids are negative where eight bits have a sign."""
    return list(VERBS[verb](H, W_200, Y_200.astype(dtype), ignore_index=ignore_index))


@every_verb
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64])
def test_targets_of_any_integer_type_mean_the_same(verb: str, dtype: Any) -> None:
    """What does not fit the type stands for no target: 260 is not 4, nor -100 156, as they would be in eight bits."""
    for ignore_index in (-100, 4, 2**8 + 4, 2**16 + 4, 2**32 + 4):
        pair = (of_200_tokens(verb, one, ignore_index) for one in (dtype, np.int64))
        for one, other in zip(*pair, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"forward"}))  # which takes no mean
@pytest.mark.parametrize("ignore_index", IGNORED)
def test_a_mean_over_none_says_which_integer_stands_for_ignored(verb: str, ignore_index: int) -> None:
    said = rf"^all 4 targets are ignore_index \({ignore_index}\): a mean over 0 positions"
    with pytest.raises(ValueError, match=said):
        VERBS[verb](H, W_U, np.full(4, ignore_index), ignore_index=ignore_index)


TROUBLES = {"NaN": [np.nan, np.nan], r"\+inf": [1e308, -1e308]}  # and what is said of the row


@every_verb
@pytest.mark.parametrize("ignore_index", IGNORED)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_error_names_the_position_as_it_stands_in_the_text(verb: str, ignore_index: int, trouble: str) -> None:
    """The last of four: before it stand one that counts and two that do not. Shards know the flattened text alone."""
    y = np.where([True, False, False, True], Y, ignore_index)
    h = np.where(np.arange(4)[:, None] == 3, TROUBLES[trouble], H)
    for lead, place in (((4,), "3"), ((2, 2), "3" if verb in ("forward", "loss", "backward") else r"\(1, 1\)")):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=f"^logits row {place} has {trouble} at token "):
            VERBS[verb](h.reshape(*lead, 2), W_U, y.reshape(lead), ignore_index=ignore_index)


@pytest.mark.parametrize("ignore_index", IGNORED)
def test_a_missing_shard_is_noticed_at_the_position_as_it_stands_in_the_text(ignore_index: int) -> None:
    y = np.where([True, False, False, True], [1, 1, 1, 4], ignore_index)
    message = forward(H, Shard(W_U[:, :2], 0, 5), y, ignore_index=ignore_index)
    with pytest.raises(ValueError, match=r"^position 3: no shard holds its target 4; is a shard missing\?"):
        loss(message, y, ignore_index=ignore_index)
    with pytest.raises(ValueError, match=r"^position 3: all its logits are -inf; is a shard missing\?"):
        loss(np.where(np.arange(4) == 3, -np.inf, message), y, ignore_index=ignore_index)
