"""What the core's verbs say to arguments that are no arrays of numbers, and how they use those that are."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import lmhead
from lmhead._arguments import as_int, as_number

RNG = np.random.default_rng(2)
Z, H, W, B = RNG.normal(size=(4, 5)), RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5)), RNG.normal(size=5)
Y = np.array([4, 0, 2, 2])
STATE = lmhead.summarize(Z)


def one_replaced(verb: Callable[..., Any], arguments: dict[str, Any], name: str, x: Any) -> Any:
    return verb(**{**arguments, name: x})


# Every array that a verb of the core takes: name of the argument -> call with a value in its place.
ARRAYS: dict[str, Callable[[Any], Any]] = {
    "softmax logits": lambda x: lmhead.softmax(x),
    "log_softmax logits": lambda x: lmhead.log_softmax(x),
    "logsumexp logits": lambda x: lmhead.logsumexp(x),
    "greedy logits": lambda x: lmhead.greedy(x),
    "top_k logits": lambda x: lmhead.top_k(x, 2),
    "top_p logits": lambda x: lmhead.top_p(x, 0.5),
    "sample logits": lambda x: lmhead.sample(x, np.random.default_rng(0)),
    "gumbel_argmax logits": lambda x: lmhead.gumbel_argmax(x, np.random.default_rng(0)),
    "summarize logits": lambda x: lmhead.summarize(x),
    "merge state": lambda x: lmhead.merge(lmhead.LogSumExp(x, STATE.rest), STATE),
    "merge_all state": lambda x: lmhead.merge_all([lmhead.LogSumExp(STATE.top, x)]),
    "cross_entropy logits": lambda x: lmhead.cross_entropy(x, Y),
    "cross_entropy targets": lambda x: lmhead.cross_entropy(Z, x),
    "cross_entropy_grad logits": lambda x: lmhead.cross_entropy_grad(x, Y),
    "cross_entropy_grad targets": lambda x: lmhead.cross_entropy_grad(Z, x),
    "unembed h": lambda x: lmhead.unembed(x, W),
    "unembed W_U": lambda x: lmhead.unembed(H, x),
    "unembed b": lambda x: lmhead.unembed(H, W, x),
    "tie E": lambda x: lmhead.tie(x),
    "tied_grad ids": lambda x: lmhead.tied_grad(x, H, W),
    "tied_grad dx": lambda x: lmhead.tied_grad(Y, x, W),
    "tied_grad dW_U": lambda x: lmhead.tied_grad(Y, H, x),
    "shift_targets ids": lambda x: lmhead.shift_targets(x),
    "shift_targets mask": lambda x: lmhead.shift_targets(Y, x),
    "perplexity loss": lambda x: lmhead.perplexity(x),
    "bits_per_byte nats": lambda x: lmhead.bits_per_byte(x, 3),
    "streaming_head_grads out": lambda x: lmhead.streaming_head_grads(H, W, Y, out=x),
}
for verb in (lmhead.head_grads, lmhead.streaming_cross_entropy, lmhead.streaming_head_grads):
    arguments = {"h": H, "W_U": W, "targets": Y, "b": B}
    ARRAYS |= {f"{verb.__name__} {name}": partial(one_replaced, verb, arguments, name) for name in arguments}
NONE_IS_MEANT = {"b", "mask", "out"}


class Tensor:
    """What a torch tensor shows of itself, as far as this package looks."""

    def __init__(self, dtype="torch.float32", requires_grad=False):
        self.dtype, self.requires_grad, self.ndim, self.shape = dtype, requires_grad, 2, (4, 5)

    def float(self):
        return self

    def __array__(self, *_, **__):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        raise TypeError("Got unsupported ScalarType BFloat16")


class Broken:
    def __array__(self, *_, **__):
        raise RuntimeError("on the device\n  at line 1\n  at line 2")


NO_ARRAYS: dict[str, Callable[[], Any]] = {
    "generator": lambda: (x for x in [1.0, 2.0]),
    "set": lambda: {1.0, 2.0},
    "dict": lambda: {0: 1.0},
    "None": lambda: None,
    "text": lambda: "1.0",
    "list with None": lambda: [1.0, None],
    "objects": lambda: np.array([1.0, 2.0, 3.0, 4.0], object),
    "complex": lambda: np.ones(4, complex),
    "dates": lambda: np.array(["2026-01-01"] * 4, "datetime64[D]"),
    "spans of time": lambda: np.ones(4, "timedelta64[s]"),
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "huge integers": lambda: [2**80] * 4,
    "longdouble": lambda: np.ones((4, 5), np.longdouble) if np.longdouble is not np.float64 else None,
    "masked": lambda: np.ma.array(np.ones((4, 5)), mask=np.eye(4, 5)),
    "masked integers": lambda: np.ma.array(Y, mask=[0, 1, 0, 0]),
    "rows that are masked": lambda: [np.ma.array([1.0, 2.0], mask=[0, 1])],
    "needs grad": lambda: Tensor(requires_grad=True),
    "bfloat16": lambda: Tensor("torch.bfloat16"),
    "broken": Broken,
}


@pytest.mark.parametrize("argument", ARRAYS)
@pytest.mark.parametrize("kind", NO_ARRAYS)
def test_what_is_no_array_of_numbers_is_refused_in_one_line(argument, kind):
    bad, name = NO_ARRAYS[kind](), argument.split()[1]
    if bad is None and name in NONE_IS_MEANT:
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        ARRAYS[argument](bad)
    said = str(caught.value)
    assert said and "\n" not in said and len(said) < 300
    assert f"{name} " in said or name in ("E", "nats", "state"), said
    if argument not in ("tie E", "streaming_head_grads out"):  # those ask for an array of NumPy's own
        for is_kind, words in (("masked", "mask would be lost"), ("grad", ".detach()"), ("bfloat16", "use .float()")):
            assert (is_kind in kind) <= (words in said), said


def test_an_array_of_bfloat16_that_is_no_tensor():
    class Foreign(Tensor):
        float = property()

    with pytest.raises(TypeError, match=r"logits is bfloat16, which NumPy does not have; use \.astype\(np\.float32\)"):
        lmhead.softmax(Foreign("bfloat16"))


def test_what_can_become_an_array_is_one():
    expected = lmhead.softmax(Z)

    class Series:
        def __array__(self, *_, **__):
            return Z

    for given in (Z.tolist(), tuple(map(tuple, Z)), list(Z), Series(), memoryview(Z)):
        assert np.array_equal(lmhead.softmax(given), expected)
        assert type(lmhead.softmax(given)) is np.ndarray
    assert lmhead.cross_entropy(Z, Y.tolist()) == lmhead.cross_entropy(Z, Y)
    assert lmhead.cross_entropy(Z.astype(">f4"), Y) == lmhead.cross_entropy(Z.astype("f4"), Y)


# Every single value that a verb of the core takes, with the value that `three` (which is 3) stands for.
INTEGERS = {
    "axis": lambda three: lmhead.softmax(np.arange(16.0).reshape(1, 2, 2, 4), axis=three),
    "k": lambda three: lmhead.top_k(Z, three),
    "top_k of sample": lambda three: lmhead.sample(Z, np.random.default_rng(0), top_k=three),
    "chunk": lambda three: lmhead.streaming_cross_entropy(H, W, Y, chunk=three),
    "n_bytes": lambda three: lmhead.bits_per_byte(1.0, three),
    "ignore_index": lambda three: lmhead.cross_entropy(Z, [3, 0, 2, 2], ignore_index=three),
    "ignore_index of the gradient": lambda three: lmhead.cross_entropy_grad(Z, [3, 0, 2, 2], ignore_index=three),
    "ignore_index of the head": lambda three: lmhead.head_grads(H, W, [3, 0, 2, 2], ignore_index=three).W_U,
    "ignore_index, streaming": lambda three: lmhead.streaming_head_grads(H, W, [3, 0, 2, 2], ignore_index=three)[0],
    "ignore_index of shift_targets": lambda three: lmhead.shift_targets([1, 2], [True, False], ignore_index=three),
}
NUMBERS = {
    "temperature": lambda half: lmhead.softmax(Z, temperature=half),
    "temperature of logsumexp": lambda half: lmhead.logsumexp(Z, temperature=half),
    "temperature of sample": lambda half: lmhead.sample(Z, np.random.default_rng(0), temperature=half),
    "p": lambda half: lmhead.top_p(Z, half),
    "nats": lambda half: lmhead.bits_per_byte(half, 3),
}


class Zero:
    """A 0-d tensor: it is its value, but what is computed with it is in float32."""

    ndim, shape, requires_grad = 0, (), False

    def __init__(self, value, dtype):
        self.value, self.dtype = value, dtype

    def __array__(self, *_, **__):
        return np.array(self.value)

    def __index__(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def __rmul__(self, other):
        return np.float32(other) * np.float32(self.value)

    __rtruediv__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = __rmul__


@pytest.mark.parametrize("argument", INTEGERS)
def test_every_integer_is_used_as_it_was_converted(argument):
    expected = INTEGERS[argument](3)
    for three in (np.int8(3), np.uint64(3), np.array(3), np.array(3, ">i4"), Zero(3, "torch.int64")):
        assert np.array_equal(INTEGERS[argument](three), expected)
    for bad in (3.0, True, np.True_, {3}, "3", [3], np.array([3]), 3j, Decimal(3), np.ma.masked, 2**70, 10**5000):
        with pytest.raises((TypeError, ValueError)) as caught:
            INTEGERS[argument](bad)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("argument", NUMBERS)
def test_every_number_is_used_as_it_was_converted(argument):
    expected = NUMBERS[argument](0.5)
    for half in (
        np.float16(0.5),
        np.longdouble(0.5),
        np.array(0.5),
        Fraction(1, 2),
        Decimal("0.5"),
        Zero(0.5, "float"),
    ):
        assert np.array_equal(NUMBERS[argument](half), expected)
    bad = [
        True,
        np.True_,
        "0.5",
        b"1",
        bytearray(b"1"),
        [0.5],
        np.array([0.5]),
        0.5 + 0j,
        np.complex64(0.5),
        None,
        {0.5},
    ]
    for value in [*bad, np.timedelta64(1, "s"), np.ma.masked, Decimal("sNaN"), 10**400, Tensor(requires_grad=True)]:
        with pytest.raises((TypeError, ValueError)) as caught:
            NUMBERS[argument](value)
        assert "\n" not in str(caught.value)


def test_conversions_keep_the_value():
    assert as_int(np.uint64(2**62), "n") == 2**62
    assert as_number(Fraction(1, 3), "x") == 1 / 3
    assert as_number(10**300, "x") == 1e300
    assert type(as_number(np.float32(0.1), "x")) is float and type(as_int(np.int8(3), "n")) is int
    with pytest.raises(ValueError, match="n must fit in 64 bits; got 1180591620717411303424"):
        as_int(2**70, "n")


def test_a_reduction_is_a_word():
    for bad in (None, 1, ["mean"], np.array(["mean", "sum"]), "Mean"):
        with pytest.raises(ValueError, match="reduction must be one of 'mean', 'sum', 'none'; got "):
            lmhead.cross_entropy(Z, Y, reduction=bad)


EXTREMES = {
    "far apart": np.array([[1e4, -1e4, 0.0], [0.0, -800.0, -745.0]]),
    "largest": np.array([[1.7e308, -1.7e308, 0.0], [1e300, 0.0, -1e300]]),
    "smallest": np.array([[5e-324, 0.0, 1e-310], [1e-308, -1e-308, 0.0]]),
    "masked": np.array([[-np.inf, 0.0, -800.0], [1.0, -np.inf, -np.inf]]),
    "float32": np.float32([[3e38, -3e38, 0.0], [1e-45, 0.0, -100.0]]),
    "float16": np.float16([[60000, -60000, 0], [6e-8, 0, -100]]),
}


@pytest.mark.parametrize("kind", EXTREMES)
@pytest.mark.parametrize("temperature", [1.0, 1e-300, 1e300, 0.3])
def test_nothing_warns_that_is_not_meant_to(kind, temperature):
    z, y = EXTREMES[kind], np.array([2, 0])
    identity = np.eye(3, dtype=z.dtype)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (lmhead.softmax, lmhead.log_softmax, lmhead.logsumexp):
            assert not np.isnan(function(z, temperature=temperature)).any()
        for reduction in ("mean", "sum", "none"):
            lmhead.cross_entropy(z, y, reduction=reduction)
            lmhead.cross_entropy_grad(z, y, reduction=reduction)
        whole, parts = lmhead.summarize(z), [lmhead.summarize(z[:, [j]]) for j in range(3)]
        values = lmhead.merge_all(parts).value, whole.value
        lmhead.merge(*parts[:2])
        if kind != "masked":  # 0 times -inf has no value: a mask is in b
            lmhead.streaming_cross_entropy(z, identity, y, chunk=2)
            lmhead.head_grads(z, identity, y)
            lmhead.streaming_head_grads(z, identity, y, chunk=2)
        rng = np.random.default_rng(0)
        for draw in (lmhead.sample, lmhead.gumbel_argmax):
            draw(z, rng, temperature=temperature)
        lmhead.greedy(lmhead.top_p(lmhead.top_k(z, 2), 0.9))
        lmhead.perplexity([1e-320, 800.0])
        lmhead.bits_per_byte(1e-320, 2**62)
        lmhead.unembed([1e-200], [[1e-200]])
    np.testing.assert_allclose(*values)


WITH_LOGITS = ["cross_entropy", "cross_entropy_grad", "greedy", "gumbel_argmax", "log_softmax", "logsumexp", "min_p"]
WITH_LOGITS += ["sample", "softmax", "summarize", "top_k", "top_p"]
TRIED_WITH = {"p": 0.5, "k": 2, "targets": np.array([0, 1]), "rng": np.random.default_rng(0)}


@pytest.mark.parametrize("name", WITH_LOGITS)
def test_every_verb_names_a_row_that_says_nothing(name):
    verb = getattr(lmhead, name)
    asked = inspect.signature(verb).parameters
    given = {key: value for key, value in TRIED_WITH.items() if key in asked}
    bad = {"NaN at token 1": [0, np.nan, 2], "[+]inf at token 1": [0, np.inf, 2], "-inf at all 3 tokens": [-np.inf] * 3}
    if name == "summarize":
        assert verb([bad.pop("-inf at all 3 tokens")]).rest == 0  # a piece without tokens, which `merge` takes
    for said, row in bad.items():
        with pytest.raises(ValueError, match=f"^logits row 1 (has|is) {said}: "):
            verb(np.array([[0.0, 1.0, 2.0], row]), **given)


def test_no_verb_with_logits_is_left_out():
    verbs = {name: getattr(lmhead, name) for name in lmhead.__all__ if callable(getattr(lmhead, name))}
    assert [name for name in sorted(verbs) if "logits" in inspect.signature(verbs[name]).parameters] == WITH_LOGITS
