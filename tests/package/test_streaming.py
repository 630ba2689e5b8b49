"""The streaming loss and gradients: the plain ones, from chunks of logits, in a fraction of their memory."""

from __future__ import annotations

import functools
import itertools
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lmhead import cross_entropy, cross_entropy_grad, head_grads, logsumexp, tie, unembed
from lmhead.streaming import (
    LogSumExp,
    merge,
    merge_all,
    streaming_cross_entropy,
    streaming_head_grads,
    summarize,
)
from tests.support.memory import peak_of
from tests.support.reference import exact, ulps, worst

FLOATS = (np.float32, np.float64)
N, D, V = 11, 5, 23
CHUNKS = (1, 7, V, 2 * V)
RNG = np.random.default_rng(6)
H, W_U, B = RNG.normal(size=(N, D)), RNG.normal(size=(D, V)), RNG.normal(size=V)
Y = RNG.integers(0, V, N)
IGNORED = np.where(np.arange(N) % 3 == 1, -100, Y)


def at_once(h, W_U, targets, **options):
    """The loss and the gradients by the plain functions, from all the logits."""
    b = options.pop("b", None)
    return cross_entropy(unembed(h, W_U, b), targets, **options), head_grads(h, W_U, targets, b=b, **options)


def assert_same(got, expected, rtol=1e-12):
    (loss, grads), (plain_loss, plain_grads) = got, expected
    np.testing.assert_allclose(loss, plain_loss, rtol=rtol)
    for one, other in zip(grads, plain_grads, strict=True):
        if other is None:
            assert one is None
        else:
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


# ---- the loss and its gradients are those of all the logits


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("b", [None, B], ids=["no bias", "bias"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("recompute", [False, True])
def test_equals_the_plain_functions(chunk, b, reduction, recompute):
    options = {"b": b, "reduction": reduction}
    got = streaming_head_grads(H, W_U, IGNORED, chunk=chunk, recompute=recompute, **options)
    assert_same(got, at_once(H, W_U, IGNORED, **options))
    assert streaming_cross_entropy(H, W_U, IGNORED, chunk=chunk, **options) == pytest.approx(got[0], rel=1e-14)


@pytest.mark.parametrize("positions", [1, D - 1, D, D + 1, 3 * D])
def test_with_fewer_and_with_more_positions_than_the_corner_of_dW_holds(positions):
    h, y = RNG.normal(size=(positions, D)), RNG.integers(0, V, positions)
    for layout in (W_U, tie(np.ascontiguousarray(W_U.T))):
        assert_same(streaming_head_grads(h, layout, y, chunk=7), at_once(h, layout, y))


def test_against_finite_differences():
    loss, grads = streaming_head_grads(H, W_U, IGNORED, b=B, chunk=4)
    step = 1e-5
    for name, x, grad in (("h", H, grads.h), ("W_U", W_U, grads.W_U), ("b", B, grads.b)):
        inputs = {"h": H, "W_U": W_U, "b": B}
        for at in itertools.islice(np.ndindex(x.shape), 0, None, 3):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[at] += sign * step
                ends.append(streaming_cross_entropy(targets=IGNORED, chunk=4, **{**inputs, name: moved}))
            assert grad[at] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-9)
    assert loss > 0


@pytest.mark.parametrize("ignore_index", [-100, 0, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_h_of_an_ignored_position_is_not_looked_at(chunk, bad, ignore_index):
    h, y, ignored = H.copy(), np.where(np.isin(Y, (0, 3)), 1, Y), np.arange(N) % 3 == 1
    h[ignored], y[ignored] = bad, ignore_index
    options = {"b": B, "ignore_index": ignore_index, "chunk": chunk}
    plain_loss, plain = at_once(H[~ignored], W_U, y[~ignored], b=B)
    with np.errstate(all="raise"):
        losses = streaming_cross_entropy(h, W_U, y, reduction="none", **options)
        both = [streaming_head_grads(h, W_U, y, recompute=recompute, **options) for recompute in (False, True)]
    assert not losses[ignored].any() and np.isclose(losses[~ignored].mean(), plain_loss, rtol=1e-13)
    for loss, grads in both:
        assert not grads.h[ignored].any()
        assert_same((loss, grads._replace(h=grads.h[~ignored])), (plain_loss, plain))


def test_any_leading_shape_and_one_loss_a_position():
    h, y = RNG.normal(size=(2, 3, D)), RNG.integers(0, V, (2, 3))
    y[1, 2] = -1
    losses = streaming_cross_entropy(h, W_U, y, ignore_index=-1, reduction="none", chunk=5)
    np.testing.assert_allclose(losses, cross_entropy(h @ W_U, y, ignore_index=-1, reduction="none"), rtol=1e-13)
    assert losses.shape == (2, 3) and losses[1, 2] == 0
    assert streaming_head_grads(h, W_U, y, ignore_index=-1)[1].h.shape == h.shape
    assert np.ndim(streaming_cross_entropy(h[0, 0], W_U, y[0, 0], reduction="none")) == 0


@pytest.mark.parametrize("given", [np.float16, np.float32, np.float64, np.int32])
def test_the_type_that_it_computes_in_is_that_of_the_plain_loss(given):
    h, W = np.round(4 * H).astype(given), np.round(4 * W_U).astype(given)
    losses, (_, grads) = streaming_cross_entropy(h, W, Y, reduction="none"), streaming_head_grads(h, W, Y)
    assert losses.dtype == grads.W_U.dtype == grads.h.dtype == cross_entropy(unembed(h, W), Y).dtype
    np.testing.assert_allclose(losses, cross_entropy(unembed(h, W), Y, reduction="none"), rtol=1e-6)
    assert streaming_head_grads(h.astype(np.float32), W.astype(np.float64), Y)[1].W_U.dtype == np.float64


# ---- accuracy: with the identity for W_U, h is the logits and dh their gradient, both exactly


def lead(gap, vocab=300, at=-1):
    z = np.random.default_rng(int(gap)).uniform(-1, 0, vocab)
    z[at] = gap
    return z


def families():
    rng = np.random.default_rng(7)
    yield "normal", rng.normal(0, 3, 300)
    yield "offset 1000", rng.normal(1000, 3, 300)
    yield "thousands", rng.normal(0, 1e3, 200)
    yield "ten thousands", rng.normal(0, 1e4, 200)
    yield "near ties", 5.0 + rng.integers(0, 3, 300) * 1e-7
    yield "exact ties", np.full(300, -2.5)
    yield "rising", np.linspace(0, 1, 300)
    yield "two far apart", np.array([0.0, -700.0, -740.0, -80.0, -100.0])
    yield "one token", np.array([3.25])
    yield "huge", np.array([1e30, -1e30, 1e30, 0.0])
    for gap in (5, 14, 18, 25, 36, 46, 60, 80, 100):
        yield f"lead {gap}", lead(gap)
        yield f"lead {gap} in the middle", lead(gap, at=150)


CASES = [(f"{name}, {dtype.__name__}", z.astype(dtype)) for name, z in families() for dtype in FLOATS]


@pytest.mark.parametrize("z", [z for _, z in CASES], ids=[name for name, _ in CASES])
def test_within_units_of_the_last_place_of_the_exact_loss(z):
    true, identity, targets = exact(z), np.eye(len(z), dtype=z.dtype), np.array([0, len(z) // 2, len(z) - 1])
    rows, wanted = np.tile(z, (3, 1)), [true.grad(y) for y in targets]
    for chunk in (1, 7, 64, len(z)):
        losses = streaming_cross_entropy(rows, identity, targets, chunk=chunk, reduction="none")
        dh = streaming_head_grads(rows, identity, targets, chunk=chunk, reduction="sum")[1].h
        assert losses.dtype == dh.dtype == z.dtype
        for y, loss, G, exact_G in zip(targets, losses, dh, wanted, strict=True):
            assert ulps(loss, true.loss(y)) <= (2 if z.dtype == np.float32 else 3)
            assert ulps(loss, mpmath.mpf(float(cross_entropy(z, y)))) <= 2
            assert ulps(G[y], exact_G[y]) <= (2 if z.dtype == np.float32 else 4)
            assert worst(G, exact_G) <= (12 if z.dtype == np.float32 else 4)
            assert G.sum() == pytest.approx(0, abs=8 * float(np.finfo(z.dtype).eps))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("chunk", [1, 7, 300])
def test_the_other_entries_of_the_gradient(dtype, chunk):
    """Where all logits lie within a few units, or all but one: elsewhere small p lose what exp makes of a rounding."""
    for z in (np.random.default_rng(8).uniform(-1, 1, 300), lead(36), lead(60)):
        z = z.astype(dtype)
        G = streaming_head_grads(z, np.eye(len(z), dtype=dtype), 299, chunk=chunk)[1].h
        assert worst(G, exact(z).grad(299)) <= 8
        assert G.sum() == pytest.approx(0, abs=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("chunk", [100, 512, 2048, 5000])
def test_within_two_ulp_of_the_loss_of_the_same_chunks_logits(chunk):
    rng = np.random.default_rng(9)
    h, E = rng.normal(size=(40, 48)).astype(np.float32), rng.normal(0, 0.3, (4000, 48)).astype(np.float32)
    y = rng.integers(0, 4000, 40)
    logits = np.concatenate([h @ E.T[:, c : c + chunk] for c in range(0, 4000, chunk)], axis=1)
    y[::2] = logits.argmax(axis=1)[::2]
    plain = cross_entropy(logits, y, reduction="none")
    got = streaming_cross_entropy(h, E.T, y, reduction="none", chunk=chunk)
    assert (np.abs(got - plain) <= 2 * np.spacing(plain)).all()


def test_the_mean_end_to_end_is_that_of_the_exact_logits():
    rng = np.random.default_rng(10)
    h, E = rng.normal(size=(64, 96)).astype(np.float32), rng.normal(0, 0.3, (9000, 96)).astype(np.float32)
    y = rng.integers(0, 9000, 64)
    true = cross_entropy(h.astype(np.float64) @ E.T.astype(np.float64), y)
    for chunk in (512, 2048):
        assert streaming_cross_entropy(h, E.T, y, chunk=chunk) == pytest.approx(true, rel=5e-8)


def random_case(seed):
    """A head of any size, type, layout and scale, with masks, ties, leads, ignored positions and any chunk."""
    rng = np.random.default_rng(seed)
    n, d, vocab = rng.integers(1, 9), rng.integers(1, 7), rng.integers(1, 30)
    dtype = rng.choice([np.float32, np.float64])
    scale = rng.choice([1e-200 if dtype == np.float64 else 1e-30, 1e-3, 1.0, 30.0, 1e3])
    h, W = (rng.normal(size=(n, d)) * scale).astype(dtype), rng.normal(size=(d, vocab)).astype(dtype)
    if rng.random() < 0.2:
        W = np.round(W)  # ties
    b = rng.normal(size=vocab).astype(dtype) if rng.random() < 0.6 else None
    y = rng.integers(0, vocab, n)
    if b is not None and rng.random() < 0.5:
        b[rng.random(vocab) < 0.3] = -np.inf
        b[0] = 0.0
    ignore_index = int(rng.choice([-100, 0, 3]))
    y[rng.random(n) < 0.2] = ignore_index
    W = tie(np.ascontiguousarray(W.T)) if rng.random() < 0.5 else W
    options = {"b": b, "ignore_index": ignore_index, "reduction": str(rng.choice(["mean", "sum"]))}
    return h, W, y, options, int(rng.integers(1, vocab + 3)), bool(rng.random() < 0.5)


@pytest.mark.parametrize("seed", range(10))
def test_random_cases_against_the_plain_functions(seed):
    for case in range(15 * seed, 15 * seed + 15):
        h, W, y, options, chunk, recompute = random_case(case)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            if (y == options["ignore_index"]).all():
                options["reduction"] = "sum"
            plain_loss, plain = at_once(h, W, y, **options)
            loss = streaming_cross_entropy(h, W, y, chunk=chunk, **options)
            both, grads = streaming_head_grads(h, W, y, chunk=chunk, recompute=recompute, **options)
        eps = float(np.finfo(h.dtype).eps)
        logits = np.abs(h.astype(float)) @ np.abs(W.astype(float))  # a product is off by roundings of what enters
        slack = eps * 20 * (1 + float(logits.max()))
        for got in (loss, both):
            np.testing.assert_allclose(got, plain_loss, rtol=8 * eps, atol=slack * len(y), err_msg=str(case))
        for one, other in zip(grads, plain, strict=True):
            if other is not None:
                size = max(1.0, float(np.abs(h).max()), float(np.abs(W).max())) * len(y)
                np.testing.assert_allclose(one, other, rtol=1e-4 if eps > 1e-10 else 1e-11, atol=slack * size)


# ---- long sums


@pytest.mark.parametrize("d_model", [1, 2, 8])
def test_gradients_over_many_positions(d_model):
    """Added up one by one, 400,000 terms of float32 are off by 4e-3 of what enters."""
    n, vocab = 400_000, 4
    h, head = np.ones((n, d_model), np.float32), np.zeros((d_model, vocab), np.float32)
    true = np.where(np.arange(vocab) == 0, -0.75, 0.25)
    for chunk in (3, vocab):  # 3: the last chunk is a single column
        options = {"b": np.zeros(vocab, np.float32), "chunk": chunk}
        grads = streaming_head_grads(h, head, np.zeros(n, int), **options)[1]
        assert grads.b.dtype == grads.W_U.dtype == np.float32
        assert (np.abs(grads.b - true) <= 2e-7 * np.abs(true)).all()
        assert (np.abs(grads.W_U - true) <= 1e-5 * np.abs(true)).all()


# ---- the state that a chunk leaves behind


finite = st.floats(-700, 700)
logits_or_mask = finite | st.just(-np.inf)


def assert_close(a, b):
    assert np.array_equal(a.top, b.top)
    np.testing.assert_allclose(a.rest, b.rest, rtol=1e-14, atol=1e-300)


@settings(max_examples=100, deadline=None)
@given(st.lists(arrays(np.float64, st.integers(1, 4), elements=logits_or_mask), min_size=3, max_size=3))
def test_merge_is_associative_and_commutative(three):
    a, b, c = (summarize(z) for z in three)
    assert_close(merge(merge(a, b), c), merge(a, merge(b, c)))
    assert_close(merge(a, b), merge(b, a))
    assert_close(merge(a, LogSumExp(np.float64(-np.inf), np.float64(0))), a)
    assert_close(merge_all([a, b, c]), summarize(np.concatenate(three)))


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, (3, 9), elements=finite), st.integers(1, 10), st.integers(0, 8))
def test_any_chunk_gives_the_same_loss(z, chunk, y):
    expected = cross_entropy(z, np.full(3, y), reduction="none")
    got = streaming_cross_entropy(z, np.eye(9), np.full(3, y), reduction="none", chunk=chunk)
    np.testing.assert_allclose(got, expected, rtol=1e-15 * 4)


def test_a_vocabulary_sharded_over_devices():
    """Three numbers per token are exchanged: top, rest, and the target's logit from the device that holds it."""
    logits = unembed(H, W_U)
    shards = [summarize(part) for part in np.array_split(logits, 4, axis=1)]
    for merged in (merge_all(shards), functools.reduce(merge, shards), functools.reduce(merge, shards[::-1])):
        np.testing.assert_allclose(merged.value, logsumexp(logits), rtol=1e-14)
        losses = (merged.top - logits[np.arange(N), Y]) + np.log1p(merged.rest)
        np.testing.assert_allclose(losses, cross_entropy(logits, Y, reduction="none"), rtol=1e-14)


def test_what_summarize_gives_and_refuses():
    z = np.array([[[1.0, 3.0, 3.0]], [[-np.inf, -np.inf, -np.inf]]])
    state = summarize(z)
    assert state.top.shape == state.rest.shape == (2, 1)
    assert state.top.ravel().tolist() == [3, -np.inf] and state.rest[1, 0] == 0 and state.value[1, 0] == -np.inf
    assert state.rest[0, 0] == pytest.approx(1 + np.exp(-2))  # of two equal ones, one is the top
    assert z[0, 0, 1] == 3
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"logits row 1 has (NaN|\+inf) at token 0"):
            summarize([[0.0, 1.0], [bad, 0.0]])
    with pytest.raises(ValueError, match="no states to merge"):
        merge_all([])
    no_state: Any = 3.0
    for wrong in (lambda: merge(state, no_state), lambda: merge_all([no_state]), lambda: merge_all([state, no_state])):
        with pytest.raises(TypeError, match="merge takes two LogSumExp, as summarize gives them; got float"):
            wrong()
    with pytest.raises(TypeError, match="got ndarray"):
        merge_all(state)  # it is iterable, and holds two arrays
    with pytest.raises(ValueError, match=r"merge takes two states of the same positions; got \(2, 1\) and \(3,\)"):
        merge(state, summarize(np.zeros((3, 2))))
    by_hand = LogSumExp([3.0, 0.0], [0.0, 1.0])
    assert merge(by_hand, LogSumExp([0.0, 3.0], [1.0, 0.0])).top.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match="out must be an array that dW_U is written to; got list"):
        streaming_head_grads(H, W_U, Y, out=W_U.tolist())


# ---- masks, zeros, what is ignored


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("recompute", [False, True])
def test_masked_tokens_also_a_whole_chunk_of_them(chunk, recompute):
    b = B.copy()
    b[[0, *range(7, 14), V - 1]] = -np.inf
    y = np.where(np.isneginf(b[Y]), 1, Y)
    got = streaming_head_grads(H, W_U, y, b=b, chunk=chunk, recompute=recompute)
    assert_same(got, at_once(H, W_U, y, b=b))
    assert (got[1].W_U[:, np.isneginf(b)] == 0).all() and (got[1].b[np.isneginf(b)] == 0).all()
    assert streaming_cross_entropy(H, W_U, np.zeros(N, int), b=b, chunk=chunk) == np.inf


def test_a_hidden_state_of_zeros_is_the_uniform_distribution():
    losses = streaming_cross_entropy(np.zeros((3, D)), W_U, [0, 4, 22], reduction="none", chunk=7)
    np.testing.assert_allclose(losses, np.log(V), rtol=1e-15)
    grads = streaming_head_grads(np.zeros((3, D)), W_U, [0, 4, 22], chunk=7)[1]
    assert (grads.W_U == 0).all() and np.isfinite(grads.h).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("ignore_index", [-100, 0, 3])
@pytest.mark.parametrize("recompute", [False, True])
def test_ignored_positions_are_never_looked_at(bad, ignore_index, recompute):
    h, y = H.copy(), np.where(np.isin(Y, (0, 3)), 1, Y)
    ignored = np.arange(N) % 3 == 1
    h[ignored], y[ignored] = bad, ignore_index
    options = {"b": B, "chunk": 4}
    with np.errstate(all="raise"):
        loss, grads = streaming_head_grads(h, W_U, y, ignore_index=ignore_index, recompute=recompute, **options)
        losses = streaming_cross_entropy(h, W_U, y, ignore_index=ignore_index, reduction="none", **options)
    expected, counted = streaming_head_grads(h[~ignored], W_U, y[~ignored], recompute=recompute, **options)
    assert_same((loss, grads._replace(h=grads.h[~ignored])), (expected, counted))
    assert not grads.h[ignored].any() and not losses[ignored].any()
    assert losses[~ignored].mean() == pytest.approx(loss, rel=1e-14)


def test_all_ignored():
    nothing = np.full(N, -100)
    loss, grads = streaming_head_grads(H, W_U, nothing, b=B, reduction="sum", chunk=4)
    assert loss == 0 and not any(grad.any() for grad in grads)
    assert streaming_cross_entropy(H, W_U, nothing, reduction="sum") == 0
    assert streaming_cross_entropy(np.empty((0, D)), W_U, np.empty(0, int), reduction="none").shape == (0,)
    for function in (streaming_cross_entropy, streaming_head_grads):
        with pytest.raises(ValueError, match="all 11 targets are ignore_index"):
            function(H, W_U, nothing)


# ---- memory: where arrays lie, and how large they get


def test_the_gradient_of_a_tied_head_lies_as_the_embedding_does():
    E = np.ascontiguousarray(W_U.T)
    tied, untied = (streaming_head_grads(H, W, Y, chunk=7)[1].W_U for W in (tie(E), W_U))
    assert tied.T.flags.c_contiguous and untied.flags.c_contiguous
    assert tied.T.shape == E.shape
    np.testing.assert_allclose(tied, untied, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_gradient_of_W_U_can_be_written_to_an_array_at_hand(transposed):
    out = np.full((V, D), np.nan).T if transposed else np.full((D, V), np.nan)
    for y in (Y, IGNORED):
        loss, grads = streaming_head_grads(H, W_U, y, b=B, chunk=7, out=out)
        assert grads.W_U is out
        assert_same((loss, grads), at_once(H, W_U, y, b=B))
    for wrong, words in (
        (out.T, "out must be float64"),
        (out.astype(np.float32), "got float32"),
        (np.empty((D, 2 * V))[:, ::2], "with gaps"),
        (W_U, "memory of W_U, h or b"),
        (np.ma.array(out), "got MaskedArray"),
        (np.broadcast_to(0.0, out.shape), "with gaps"),
        (np.frombuffer(bytes(out.nbytes)).reshape(out.shape), "read-only"),
    ):
        assert words in message(streaming_head_grads, H, W_U, Y, out=wrong)[1]


def test_inputs_may_be_read_only_or_scattered_and_are_left_as_they_were():
    wide_h, wide_W, wide_b = np.repeat(H, 2, axis=1), np.repeat(W_U, 3, axis=1)[::-1], np.repeat(B, 2)
    scattered = (wide_h[:, ::-2], wide_W[:, ::3], IGNORED[::1], wide_b[::2])
    before = [x.copy() for x in (wide_h, wide_W, wide_b)]
    for x in scattered:
        x.flags.writeable = False
    h, W, y, b = scattered
    assert_same(streaming_head_grads(h, W, y, b=b, chunk=7), at_once(H[:, ::-1], W_U[::-1], IGNORED, b=B))
    assert_same(streaming_head_grads(h.T.copy().T, W, y, b=b, chunk=7), at_once(h, W, IGNORED, b=B))
    for now, then in zip((wide_h, wide_W, wide_b), before, strict=True):
        assert np.array_equal(now, then)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_logits_never_exist(transposed):
    rng = np.random.default_rng(11)
    n, d, chunk = 96, 32, 192
    h = rng.normal(size=(n, d)).astype(np.float32)
    peaks = {}
    for vocab in (8_192, 32_768):
        E = rng.normal(size=(vocab, d)).astype(np.float32)
        W, y = (E.T if transposed else np.ascontiguousarray(E.T)), rng.integers(0, vocab, n)
        gradients, logits = h.nbytes + W.nbytes, 4 * n * vocab
        for name, call in (
            ("loss", functools.partial(streaming_cross_entropy, h, W, y, chunk=chunk)),
            ("stash", functools.partial(streaming_head_grads, h, W, y, chunk=chunk)),
            ("recompute", functools.partial(streaming_head_grads, h, W, y, chunk=chunk, recompute=True)),
        ):
            peaks[name, vocab] = peak_of(call) - (0 if name == "loss" else gradients)
            assert peaks[name, vocab] < 0.1 * logits
    for name in ("loss", "recompute"):  # flat in the vocabulary
        assert peaks[name, 32_768] < peaks[name, 8_192] + 20_000
    assert peaks["recompute", 32_768] < peaks["stash", 32_768]


def test_who_gives_no_chunk_gets_one_that_is_small_beside_the_logits():
    """Chapter 13: of 1024 positions a chunk takes 8 MiB, whatever the vocabulary, besides the results."""
    n, vocab, MiB = 128, 65_536, 2**20
    rng = np.random.default_rng(14)
    h, E = rng.normal(size=(n, 2)).astype(np.float32), rng.normal(size=(vocab, 2)).astype(np.float32)
    y = rng.integers(0, vocab, n)
    of_1024 = 1024 / n / MiB
    assert peak_of(lambda: streaming_cross_entropy(h, E.T, y)) * of_1024 < 10
    for recompute in (False, True):
        grads = functools.partial(streaming_head_grads, h, E.T, y, recompute=recompute)
        assert (peak_of(grads) - h.nbytes - E.nbytes) * of_1024 < 20, "two chunks: the logits, and their gradient"


# ---- bad input: the words of the plain functions


def message(function, *arguments, **options):
    with pytest.raises((ValueError, IndexError, TypeError)) as caught:
        function(*arguments, **options)
    return type(caught.value), str(caught.value)


def plain(h, W_U, targets, b=None, **options):
    return cross_entropy(unembed(h, W_U, b), targets, **options)


def with_bad(value, row=4):
    h = H.copy()
    h[row, 2] = value
    return h


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((H, W_U.T, Y), {}),
        ((H[:, :-1], W_U, Y), {}),
        ((H[0, 0], W_U, Y), {}),
        ((H, W_U[0], Y), {}),
        ((H, W_U, Y), {"b": B[:-1]}),
        ((H, W_U, Y), {"reduction": "average"}),
        ((H, W_U, Y[:-1]), {}),
        ((H, W_U, Y[:, None]), {}),
        ((H, W_U, Y.astype(float)), {}),
        ((H, W_U, Y > 3), {}),
        ((H, W_U, np.where(np.arange(N) == 3, V, Y)), {}),
        ((H, W_U, np.where(np.arange(N) == 3, -1, Y)), {}),
        ((H, W_U, Y), {"ignore_index": 1.5}),
        ((H.astype(complex), W_U, Y), {}),
        ((H, W_U.astype(object), Y), {}),
        ((with_bad(np.nan), W_U, Y), {}),
        ((with_bad(np.inf), np.abs(W_U), Y), {}),
        ((with_bad(np.nan).reshape(1, N, D), W_U, Y[None]), {}),
        ((with_bad(1e200), W_U * 1e200, Y), {}),
        ((H, W_U, Y), {"b": np.where(np.arange(V) == 9, np.nan, B)}),
        ((H, W_U, Y), {"b": np.where(np.arange(V) == 9, np.inf, B)}),
        ((H, W_U, Y), {"b": np.full(V, -np.inf)}),
        ((np.empty((0, D)), W_U, np.empty(0, int)), {}),
    ],
)
def test_says_what_the_plain_functions_say(arguments, options):
    with np.errstate(all="ignore"):
        expected = message(plain, *arguments, **options)
    assert message(streaming_cross_entropy, *arguments, **options, chunk=7) == expected
    if "reduction" not in options:
        assert message(streaming_head_grads, *arguments, **options, chunk=7) == expected


def test_errors_of_its_own():
    for chunk in (0, -3):
        assert "chunk must be at least 1 token" in message(streaming_cross_entropy, H, W_U, Y, chunk=chunk)[1]
    assert message(streaming_cross_entropy, H, W_U, Y, chunk=2.0)[0] is TypeError
    assert "'mean', 'sum'" in message(streaming_head_grads, H, W_U, Y, reduction="none")[1]
    assert "empty vocabulary" in message(streaming_cross_entropy, H, W_U[:, :0], Y)[1]


def test_a_bad_position_behind_ignored_ones_keeps_its_own_number():
    assert "logits row 5 has NaN" in message(streaming_cross_entropy, with_bad(np.nan, row=5), W_U, IGNORED)[1]


def test_the_gradient_of_the_logits_is_the_plain_one():
    G = streaming_head_grads(H, np.eye(D), Y % D, chunk=2)[1].h
    np.testing.assert_allclose(G, cross_entropy_grad(H, Y % D), rtol=1e-12)
