"""A vocabulary in shards: the plain loss and gradients, from messages of three numbers for each position."""

from __future__ import annotations

import ast
import inspect
import io
import itertools
import tokenize
import warnings

import mpmath
import numpy as np
import pytest

from lmhead import cross_entropy, head_grads, sharded, unembed
from lmhead.sharded import Shard, backward, forward, loss, together
from tests.support.reference import exact, ulps

N, D, V = 11, 5, 23
RNG = np.random.default_rng(18)
H, W_U, B = RNG.normal(size=(N, D)), RNG.normal(size=(D, V)), RNG.normal(size=V)
Y = RNG.integers(0, V, N)
CUTS = {  # where each shard begins
    "one shard": (0,),
    "two": (0, 11),
    "three, uneven": (0, 4, 20),
    "four, two of them a column wide": (0, 1, 13, 22),
    "each token alone": tuple(range(V)),
}
every_cut = pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)


def cut_at(starts, W=W_U, b=None):
    ends = (*starts[1:], W.shape[1])
    return [Shard(W[:, i:j], i, W.shape[1], None if b is None else b[i:j]) for i, j in zip(starts, ends, strict=True)]


def step(h, shards, targets, **options):
    """What several devices compute together: the message, the losses, dh, and the columns of dW_U and db."""
    message = together([forward(h, shard, targets, **options) for shard in shards])
    pushed = [backward(h, shard, targets, message, **options) for shard in shards]
    db = None if shards[0].b is None else np.concatenate([push.b for push in pushed])
    dh, dW = sum(push.h for push in pushed), np.concatenate([push.W_U for push in pushed], axis=1)
    return message, loss(message, targets, reduction="none", **options), (dh, dW, db)


def assert_same(h, W, b, shards, targets, rtol=1e-12, **options):
    """The loss by every reduction, and all gradients, are those of the plain functions."""
    message, losses, grads = step(h, shards, targets, **options)
    for reduction in ("mean", "sum", "none"):
        expected = cross_entropy(unembed(h, W, b), targets, reduction=reduction, **options)
        np.testing.assert_allclose(loss(message, targets, reduction=reduction, **options), expected, rtol=rtol, atol=0)
    for got, plain in zip(grads, head_grads(h, W, targets, b=b, **options), strict=True):
        if plain is not None:
            assert got.shape == plain.shape and got.dtype == plain.dtype
            np.testing.assert_allclose(got, plain, rtol=rtol, atol=rtol)
    return losses


# ---- the loss and its gradients are those of all the logits


@every_cut
@pytest.mark.parametrize("b", [None, B], ids=["no bias", "bias"])
def test_equals_the_plain_functions(cut, b):
    assert_same(H, W_U, b, cut_at(cut, b=b), Y)


@every_cut
@pytest.mark.parametrize("ignore_index", [-100, 0, 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_ignored_positions_are_never_looked_at(cut, ignore_index, bad):
    h, y, ignored = H.copy(), np.where(np.isin(Y, (0, 3)), 1, Y), np.arange(N) % 3 == 1
    h[ignored], y[ignored] = bad, ignore_index
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        message, losses, (dh, dW, db) = step(h, cut_at(cut, b=B), y, ignore_index=ignore_index)
    assert np.isfinite(message[:2]).all() and not losses[ignored].any() and not dh[ignored].any()
    plain = head_grads(H[~ignored], W_U, y[~ignored], b=B)
    np.testing.assert_allclose(losses[~ignored], cross_entropy(H[~ignored] @ W_U + B, y[~ignored], reduction="none"))
    np.testing.assert_allclose(dh[~ignored], plain.h, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(dW, plain.W_U, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(db, plain.b, rtol=1e-12, atol=1e-15)


@every_cut
def test_masked_tokens_also_a_whole_shard_of_them(cut):
    b = B.copy()
    b[[0, *range(4, 20), V - 1]] = -np.inf
    y = np.where(np.isneginf(b[Y]), 1, Y)
    with np.errstate(all="raise"):
        assert_same(H, W_U, b, cut_at(cut, b=b), y)
        masked = step(H, cut_at(cut, b=b), np.full(N, 4))
    assert (masked[1] == np.inf).all()  # the target itself is masked: it has no probability
    np.testing.assert_allclose(masked[2][2], head_grads(H, W_U, np.full(N, 4), b=b).b, rtol=1e-12)


@every_cut
@pytest.mark.parametrize("lead", [5, 18, 36, 46, 60, 100, 700])
def test_a_nearly_certain_target_keeps_its_digits(cut, lead):
    """With the identity for W_U, h is the logits and dh their gradient, both exactly."""
    z = np.random.default_rng(lead).uniform(-1, 0, V)
    for y in (0, 4, V - 1):
        logits = np.where(np.arange(V) == y, lead, z)[None]
        _, losses, (dh, _, _) = step(logits, cut_at(cut, np.eye(V)), [y])
        true = exact(logits[0])
        assert losses[0] > 0 and ulps(losses[0], true.loss(y)) <= 4
        assert abs(mpmath.mpf(float(dh[0, y])) / true.grad(y)[y] - 1) < 1e-14


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_the_type_that_it_computes_in_is_that_of_the_plain_gradients(dtype):
    h, W = np.round(4 * H).astype(dtype), np.round(4 * W_U).astype(dtype)
    rtol = 1e-12 if dtype in (np.float64, np.int32) else 2e-6
    assert assert_same(h, W, None, cut_at((0, 4, 20), W), Y, rtol).dtype == np.float64


def test_any_leading_shape():
    h, y = RNG.normal(size=(2, 3, D)), RNG.integers(0, V, (2, 3))
    y[1, 2] = -100
    assert assert_same(h, W_U, None, cut_at((0, 4, 20)), y).shape == (2, 3)
    (shard,) = cut_at((0,))
    assert loss(forward(h[0, 0], shard, y[0, 0]), y[0, 0]) == pytest.approx(cross_entropy(h[0, 0] @ W_U, y[0, 0]))
    assert forward(np.empty((0, D)), shard, np.empty(0, int)).shape == (3, 0)


def test_random_cases():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, d, vocab = rng.integers(1, 9), rng.integers(1, 7), rng.integers(2, 30)
        h, W = rng.normal(size=(n, d)) * rng.choice([1e-200, 1e-3, 1.0, 30.0]), rng.normal(size=(d, vocab))
        b = np.where(rng.random(vocab) < 0.3, -np.inf, rng.normal(size=vocab))
        b[rng.integers(vocab)] = 0.0
        y = rng.integers(0, vocab, n)
        y[1:][rng.random(n - 1) < 0.3] = -100
        starts = (0, *sorted({*rng.integers(1, vocab, 4).tolist()}))
        with np.errstate(all="raise"):
            assert_same(h, W, b, cut_at(starts, W, b), y, rtol=1e-11 if abs(h).max() > 20 else 1e-12)


# ---- messages


@every_cut
def test_a_message_is_three_numbers_a_position(cut):
    for shard in cut_at(cut):
        message = forward(H, shard, Y)
        assert message.shape == (3, N) and message.dtype == np.float64
        z = H @ shard.W
        np.testing.assert_array_equal(message[0], z.max(axis=1))
        np.testing.assert_allclose(message[1], np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1) - 1, atol=1e-12)
        held = (shard.first <= Y) & (shard.first + shard.W.shape[1] > Y)
        np.testing.assert_array_equal(np.isnan(message[2]), ~held)
        np.testing.assert_array_equal(message[2, held], z[held, Y[held] - shard.first])


def test_messages_come_together_in_any_order_and_in_several_steps():
    messages = [forward(H, shard, Y) for shard in cut_at((0, 1, 13, 22))]
    whole = together(messages)
    for order in itertools.permutations(messages):
        np.testing.assert_allclose(together(order), whole, rtol=1e-14)
        np.testing.assert_allclose(together([together(order[:3]), order[3]]), whole, rtol=1e-14)
    np.testing.assert_allclose(whole, forward(H, cut_at((0,))[0], Y), rtol=1e-14)


def test_nothing_that_it_is_given_is_changed():
    h, W, y = H.copy(), W_U.copy(), Y.copy()
    for array in (h, W, y):
        array.flags.writeable = False
    step(h, cut_at((0, 4), W), y)


# ---- what it refuses


def test_what_no_shard_or_several_hold():
    shards = cut_at((0, 4, 20))
    y = np.array([21, 2, *Y[2:]])
    messages = [forward(H, shard, y) for shard in shards]
    with pytest.raises(ValueError, match="position 0: no shard holds its target 21; is a shard missing"):
        loss(together(messages[:2]), y)
    with pytest.raises(ValueError, match="position 0: no shard holds its target 21"):
        backward(H, shards[0], y, together(messages[:2]))
    with pytest.raises(ValueError, match="several shards hold the target of position 1; each token may be in one"):
        together([messages[0], *messages])
    whole = Shard(W_U, 0, V)  # every shard has the whole vocabulary: else a loss that is too large by log 3
    with pytest.raises(ValueError, match="several shards hold the target of position 0"):
        together([forward(H, whole, y)] * 3)
    masked = cut_at((0, 4), b=np.full(V, -np.inf))
    with pytest.raises(ValueError, match="position 0: all its logits are -inf"):
        loss(together([forward(H, shard, y) for shard in masked]), y)


def test_the_plain_functions_words():
    """Where a target, a shape or a type is wrong."""
    shard = cut_at((0, 4))[1]

    def words(function, *arguments, **options):
        with pytest.raises((ValueError, IndexError, TypeError)) as caught:
            function(*arguments, **options)
        return type(caught.value), str(caught.value)

    far = np.where(np.arange(N) == 3, V, Y)
    wrong = [(H, far), (H, Y - 30), (H, Y[:-1]), (H, Y.astype(float)), (H, Y > 3), (H.astype(complex), Y)]
    for h, y in wrong:
        plain = words(lambda h, y: cross_entropy(unembed(h, W_U), y), h, y)
        assert words(forward, h, shard, y) == plain
        assert words(backward, h, shard, y, np.zeros((3, N))) == plain
    assert "W_U must be [d_model, vocab]; got (19, 5)" in words(forward, H, shard._replace(W=shard.W.T), Y)[1]
    assert words(forward, H, shard._replace(first=4.0), Y)[0] is TypeError
    bad = H.copy()
    bad[4, 2] = np.nan
    assert "logits row 4 has NaN at token 0" in words(forward, bad, shard, np.where(np.arange(N) == 1, -100, Y))[1]
    assert "reduction must be one of" in words(loss, np.zeros((3, N)), Y, reduction="average")[1]
    nothing = np.full(N, -100)
    message = together([forward(H, shard, nothing) for shard in cut_at((0, 4))])
    assert loss(message, nothing, reduction="sum") == 0
    for function in (loss, lambda *given: backward(H, shard, nothing, message)):
        assert "all 11 targets are ignore_index" in words(function, message, nothing)[1]


@pytest.mark.parametrize("shape", [(N,), (2, N), (3, N, 1), (3, N + 1), (3, N - 1)])
def test_what_is_no_message(shape):
    with pytest.raises(ValueError, match=r"a message must be \[3, 11\], three numbers for each position; got"):
        loss(np.zeros(shape), Y)
    with pytest.raises(ValueError, match=r"a message must be \[3, |states of the same positions; got \(11,\) and \("):
        together([np.zeros((3, N)), np.zeros(shape)])


def test_nothing_to_bring_together():
    with pytest.raises(ValueError, match="no states to merge"):
        together([])


# ---- its size


def code_lines(source):
    """The lines that hold code: no imports, docstrings, comments or blank lines."""
    tree = ast.parse(source)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in silent]
    held = {line for t in tokens for line in range(t.start[0], t.end[0] + 1)}
    return held - {line for node in (*texts, *imports) for line in range(node.lineno, node.end_lineno + 1)}


def test_it_is_read_in_one_go():
    assert len(code_lines('"""Text\n\ntext."""\nimport os\n\n# a comment\nx = [\n    1,\n]\n')) == 3
    assert len(code_lines(inspect.getsource(sharded))) <= 50
