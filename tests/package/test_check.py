"""Checkers accept right solutions however written, name each well-known mistake, and let no planted fault pass."""

import contextlib
import decimal
import functools
import importlib
import io
import itertools
import math
import pkgutil
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest

import lmhead
from lmhead import check
from lmhead.check import run as running
from lmhead.check.grading import grade
from lmhead.check.show import show_both

CHECKERS = [name for name in check.__all__ if name != "logits_not_probabilities"]


def exercise(name):
    return getattr(sys.modules[getattr(check, name).__module__], name.upper())


def printed(name, yours):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert getattr(check, name)(yours) is None
    return out.getvalue().rstrip("\n")


def said(name, yours):
    """What is printed, as one line."""
    return " ".join(printed(name, yours).split())


def right_line(name):
    return f"Right: all {len(running.cases_of(exercise(name)))} cases pass."


# Right solutions, each written in at least three ways: arrays, loops, lists and Python numbers.


def next_token_loop(h, W_U):
    best = 0
    for j in range(W_U.shape[1]):
        if sum(h[i] * W_U[i, j] for i in range(len(h))) > sum(h[i] * W_U[i, best] for i in range(len(h))):
            best = j
    return best


def write_recursive(ids, n, E, body, W_U):
    if n == 0:
        return list(ids)
    return write_recursive([*ids, (body(E[ids])[-1] @ W_U).argmax()], n - 1, E, body, W_U)


def write_array(ids, n, E, body, W_U):
    ids = np.array(ids)
    for _ in range(n):
        logits = W_U.T @ body(np.stack([E[i] for i in ids]))[len(ids) - 1]
        ids = np.append(ids, np.argsort(logits)[-1])
    return ids


def right_way_round_cases(matrix, d_model):
    fits = [turned for turned in (matrix, matrix.T) if turned.shape[0] == d_model]
    return fits[0].tolist() if len(fits) == 1 else None


def logit_from_memory_loop(line, h, j, together):
    vocab = len(line) // len(h)
    return sum(x * line[j * len(h) + i if together else i * vocab + j] for i, x in enumerate(h))


def cosines_loop(h, W_U):
    return [float(h @ w) / math.hypot(*h) / math.hypot(*w) for w in W_U.T]


def winner_by_length_loop(h, W_U, j):
    logits = [float(h @ column) for column in W_U.T]
    if logits[j] <= 0:
        return None
    return max(logits) / logits[j]


def head_parameters_steps(d_model, vocab_size, tied, bias):
    total = 0
    if not tied:
        total += d_model * vocab_size
    if bias:
        total += vocab_size
    return total


def tied_gradient_loop(ids, dx, dW_U):
    dE = dW_U.T.tolist()
    for t, token in enumerate(ids):
        for i in range(len(dx[t])):
            dE[token][i] += dx[t][i]
    return dE


def tied_gradient_add_at(ids, dx, dW_U):
    dE = np.zeros(dW_U.shape[::-1])
    np.add.at(dE, ids, dx)
    dE += dW_U.T
    return dE


def softmax_loop(z):
    if np.ndim(z) > 1:
        return [softmax_loop(row) for row in z]
    top = max(z)
    weights = [math.exp(x - top) for x in z]
    return [w / sum(weights) for w in weights]


def softmax_by_logs(z):
    top = z.max(-1)[..., None]
    return np.exp(z - top - np.log(np.exp(z - top).sum(-1)[..., None]))


def top_p_loop(z, p):
    probabilities = softmax_loop(z)
    kept, total = set(), 0.0
    for token in sorted(range(len(z)), key=lambda j: -z[j]):
        if total >= p:
            break
        kept.add(token)
        total += probabilities[token]
    return [float(z[j]) if j in kept else -math.inf for j in range(len(z))]


def top_p_threshold(z, p):
    ranked = np.sort(lmhead.softmax(z))[::-1]
    lowest = ranked[np.cumsum(ranked) - ranked < p].min()
    return np.where(lmhead.softmax(z) >= lowest, z, -np.inf)


def inverse_cdf_loop(p, u):
    end = 0.0
    for token, width in enumerate(p):
        end += width
        if u < end / sum(p):
            return token
    raise ValueError(u)


def repetition_penalty_loop(z, ids, penalty):
    z = z.copy()
    for token in set(ids.tolist()):
        z[token] = z[token] / penalty if z[token] > 0 else z[token] * penalty
    return z


def cross_entropy_list(z, y):
    top = max(z)
    return math.log(math.fsum(math.exp(x - top) for x in z)) + float(top) - float(z[y])


def kl_divergence_loop(q, z):
    log_sum = math.log(sum(math.exp(x) for x in z))
    return sum(x * (math.log(x) - (score - log_sum)) for x, score in zip(q, z, strict=True) if x > 0)


def masked_mean_loop(logits, targets):
    rows = zip(np.reshape(logits, (-1, logits.shape[-1])), np.ravel(targets), strict=True)
    losses = [cross_entropy_list(z, y) for z, y in rows if y != -100]
    return sum(losses) / len(losses)


def masked_mean_where(logits, targets):
    counts = targets != -100
    y = np.where(counts, targets, 0)
    log_p = np.take_along_axis(lmhead.log_softmax(logits), y[..., None], -1)[..., 0]
    return -np.where(counts, log_p, 0).sum() / counts.sum()


def chat_targets_list(ids, is_answer):
    following = zip(ids[1:], is_answer[1:], strict=True)
    return [int(token) if answer else -100 for token, answer in following] + [-100]


def chat_targets_loop(ids, is_answer):
    targets = np.full(len(ids), -100, np.int32)
    for t in range(len(ids) - 1):
        if is_answer[t + 1]:
            targets[t] = ids[t + 1]
    return targets


def log_softmax_list(z):
    if np.ndim(z) > 1:
        return [log_softmax_list(row) for row in z]
    top = float(max(z))
    total = math.log(sum(math.exp(x - top) for x in z))
    return [float(x) - top - total for x in z]


def sure_loss_sorted(z, y):
    *others, top = sorted(z.tolist())
    return (top - float(z[y])) + math.log1p(math.fsum(math.exp(x - top) for x in others))


def sure_loss_mask(z, y):
    weight = np.exp(z - z.max())
    weight[np.argmax(z)] = 0
    return np.log1p(weight.sum()) + (z.max() - z[y])


def bits_per_byte_loop(losses, text):
    bits = 0.0
    for loss in losses:
        bits += loss / math.log(2)
    return bits / len(bytes(text, "utf-8"))


def rank_of_loop(logits, token):
    rank = 0
    for z in logits:
        if z > logits[token]:
            rank += 1
    return rank


def merge_cases(a, b):
    if a[0] == -math.inf:
        return b
    if b[0] == -math.inf:
        return a
    if a[0] < b[0]:
        a, b = b, a
    return [a[0], a[1] + (1 + b[1]) * math.exp(b[0] - a[0])]


def merge_array(a, b):
    tops, rests = np.array([a, b]).T
    sums = (tops > -np.inf) + rests
    m = tops.max()
    shift = np.where(tops > -np.inf, tops - m if m > -np.inf else 0.0, 0.0)
    return m, max(float((sums * np.exp(shift)).sum() - (m > -np.inf)), 0.0)


def sharded_loss_merged(top, rest, z_y):
    state = lmhead.merge_all(map(lmhead.LogSumExp, top, rest))
    return state.top - np.nansum(z_y, axis=0) + np.log1p(state.rest)


def sharded_loss_by_lmhead(top, rest, z_y):
    message = lmhead.sharded.together(np.stack([top, rest, z_y], axis=1))
    return lmhead.sharded.loss(message, np.zeros(len(message[0]), int), reduction="none")


def sharded_loss_by_position(top, rest, z_y):
    losses = []
    for tops, rests, targets in zip(top.T.tolist(), rest.T.tolist(), z_y.T.tolist(), strict=True):
        k = tops.index(max(tops))
        R = sum((r + (j != k)) * math.exp(t - tops[k]) for j, (t, r) in enumerate(zip(tops, rests, strict=True)))
        (z,) = [z for z in targets if not math.isnan(z)]
        losses.append(tops[k] - z + math.log1p(R))
    return losses


def streaming_loss_logaddexp(h, W_U, y, chunk):
    lse = np.full(len(h), -np.inf)
    for start in range(0, W_U.shape[1], chunk):
        lse = np.logaddexp(lse, lmhead.logsumexp(h @ W_U[:, start : start + chunk]))
    return (lse - np.einsum("nd,dn->n", h, W_U[:, y])).mean()


def streaming_loss_states(h, W_U, y, chunk):
    m, s = np.full(len(h), -np.inf), np.zeros(len(h))
    pieces = np.split(W_U, range(chunk, W_U.shape[1], chunk), axis=1)
    for piece in pieces:
        z = h @ piece
        top = np.maximum(m, z.max(axis=1))
        m, s = top, s * np.exp(m - top) + np.exp(z - top[:, None]).sum(axis=1)
    return float(np.mean(m + np.log(s) - (h * W_U[:, y].T).sum(axis=1)))


def streaming_loss_by_position(h, W_U, y, chunk):
    return np.mean([lmhead.cross_entropy(h[n] @ W_U, y[n]) for n in range(len(h))])


def train_step_by_position(W_U, counts, rate):
    read, wanted = np.repeat(np.argwhere(counts >= 0), counts.ravel().astype(int), axis=0).T
    return W_U - rate * np.eye(len(W_U))[read].T @ lmhead.cross_entropy_grad(W_U[read], wanted)


def train_step_loop(W_U, counts, rate):
    new, total = W_U.tolist(), counts.sum()
    for i, row in enumerate(counts):
        p = softmax_loop(W_U[i].tolist())
        for j, count in enumerate(row):
            new[i][j] -= rate * (sum(row) * p[j] - count) / total
    return new


def name_fault_by_end_first(losses, floor, start):
    above = losses[-1] - floor
    if above < -0.05:
        return 1
    if max(losses) > start + 0.5 and losses[0] == max(losses):
        return 3
    if any(later > earlier + 0.01 for earlier, later in itertools.pairwise(losses)):
        return 4
    return 2 * (above > 0.2)


RIGHT = {
    "next_token": [
        next_token_loop,
        lambda h, W_U: (h @ W_U).argmax(),
        lambda h, W_U: int(np.argsort(np.einsum("d,dv->v", h, W_U))[-1]),
        lambda h, W_U: np.int32(lmhead.softmax(W_U.T @ h).argmax()),
    ],
    "write": [
        write_recursive,
        write_array,
        lambda ids, n, E, body, W_U: tuple(np.int32(i) for i in write_array(ids, n, E, body, W_U)),
    ],
    "right_way_round": [
        right_way_round_cases,
        lambda matrix, d: [matrix, matrix.T][len(matrix) != d] if len(set(matrix.shape)) > 1 else None,
        lambda matrix, d: None if np.ptp(matrix.shape) == 0 else np.moveaxis(matrix, matrix.shape.index(d), 0),
    ],
    "logit_from_memory": [
        logit_from_memory_loop,
        lambda line, h, j, together: np.dot(h, np.reshape(line, (len(h), -1), order="F" if together else "C"))[j],
        lambda line, h, j, together: np.float32(
            h @ (line.reshape(-1, len(h))[j] if together else line.reshape(len(h), -1)[:, j])
        ),
    ],
    "cosines": [
        cosines_loop,
        lambda h, W_U: h @ W_U / np.linalg.norm(h) / np.linalg.norm(W_U, axis=0),
        lambda h, W_U: (h / np.sqrt(h @ h)) @ (W_U / np.sqrt((W_U**2).sum(axis=0))),
        lambda h, W_U: np.float32(h @ W_U / np.sqrt((W_U * W_U).sum(0) * (h * h).sum())),
    ],
    "winner_by_length": [
        winner_by_length_loop,
        lambda h, W_U, j: None if (h @ W_U)[j] <= 0 else (h @ W_U).max() / (h @ W_U[:, j]),
        lambda h, W_U, j: max(float(h @ W_U[:, i] / (h @ W_U[:, j])) for i in range(5)) if h @ W_U[:, j] > 0 else None,
    ],
    "head_parameters": [
        head_parameters_steps,
        lambda d, V, tied, bias: V * (d * (not tied) + bias),
        lambda d, V, tied, bias: np.int64((0 if tied else d * V) + (V if bias else 0)),
        lambda d, V, tied, bias: sum([V] * bias + [d * V] * (1 - tied)),
    ],
    "shares": [
        lambda writes, gain, direction: [
            sum(w * g * u for w, g, u in zip(write, gain, direction, strict=True))
            / (sum(float(x) ** 2 for x in writes.sum(axis=0)) / len(gain)) ** 0.5
            for write in writes
        ],
        lambda writes, gain, direction: np.einsum(
            "nd,d,d->n", writes / np.linalg.norm(writes.sum(0)) * len(gain) ** 0.5, gain, direction
        ),
        lambda writes, gain, direction: np.float32(
            (writes / np.sqrt((sum(writes) ** 2).mean()) * gain) @ direction[:, None]
        ).ravel(),
    ],
    "above_itself": [
        lambda E: [sum(float(E[i] @ row) > float(E[i] @ E[i]) for row in E) for i in range(len(E))],
        lambda E: (np.einsum("id,jd->ij", E, E) > (E * E).sum(axis=1, keepdims=True)).sum(axis=1),
        lambda E: np.count_nonzero(np.diag(E @ E.T).reshape(-1, 1) < E @ E.T, axis=1).tolist(),
    ],
    "rows_with_gradient": [
        lambda ids, vocab_size, tied: vocab_size if tied else len(set(ids[:-1].tolist())),
        lambda ids, vocab_size, tied: np.count_nonzero(np.bincount(ids[:-1])) if not tied else np.int64(vocab_size),
        lambda ids, vocab_size, tied: sum(tied or j in ids[:-1] for j in range(vocab_size)),
    ],
    "tied_gradient": [
        tied_gradient_loop,
        tied_gradient_add_at,
        lambda ids, dx, dW_U: dW_U.T + (np.arange(dW_U.shape[1])[:, None] == ids).astype(float) @ dx,
    ],
    "softmax": [
        softmax_loop,
        softmax_by_logs,
        lambda z: lmhead.softmax(z.astype(np.float32)),
        lambda z: np.exp(z - np.logaddexp.reduce(z, axis=-1, keepdims=True)),
    ],
    "top_p": [top_p_loop, top_p_threshold, lmhead.top_p, lambda z, p: lmhead.top_p(z.astype(np.float32), p)],
    "inverse_cdf": [
        inverse_cdf_loop,
        lambda p, u: (np.cumsum(p) <= u * np.cumsum(p)[-1]).sum(),
        lambda p, u: min(np.searchsorted(np.cumsum(p), u, side="right"), len(p) - 1),
        lambda p, u: int(np.argmax(np.append(np.cumsum(p)[:-1], 1) > u)),
    ],
    "repetition_penalty": [
        repetition_penalty_loop,
        lambda z, ids, penalty: np.where(np.isin(range(len(z)), ids), np.minimum(z / penalty, z * penalty), z),
        lambda z, ids, penalty: [float(x) * penalty ** -np.sign(x) if j in ids else float(x) for j, x in enumerate(z)],
    ],
    "cross_entropy": [
        cross_entropy_list,
        lambda z, y: np.log(np.exp(z - z.max()).sum()) + z.max() - z[y],
        lambda z, y: -lmhead.log_softmax(z.astype(np.float32))[y],
        lambda z, y: np.logaddexp.reduce(z) - z[y],
    ],
    "kl_divergence": [
        kl_divergence_loop,
        lambda q, z: -(q * lmhead.log_softmax(z)).sum() + (q * np.log(np.maximum(q, 1e-300))).sum(),
        lambda q, z: np.nansum(np.where(q > 0, q * (np.log(q) - z + lmhead.logsumexp(z)), 0)),
    ],
    "masked_mean": [
        masked_mean_loop,
        masked_mean_where,
        lmhead.cross_entropy,
        lambda logits, targets: lmhead.cross_entropy(logits[targets != -100], targets[targets >= 0]),
    ],
    "chat_targets": [
        chat_targets_list,
        chat_targets_loop,
        lambda ids, is_answer: np.append(np.where(is_answer, ids, -100)[1:], -100),
    ],
    "log_softmax": [
        log_softmax_list,
        lambda z: z - z.max(-1, keepdims=True) - np.log(np.exp(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True)),
        lambda z: z - np.logaddexp.reduce(z, axis=-1)[..., None],
        lambda z: lmhead.log_softmax(z.astype(np.float32)),
    ],
    "sure_loss": [
        sure_loss_sorted,
        sure_loss_mask,
        lmhead.cross_entropy,
        lambda z, y: lmhead.cross_entropy(z.astype(np.float32), y),
    ],
    "bits_per_byte": [
        bits_per_byte_loop,
        lambda losses, text: np.sum(losses) / np.log(2) / len(text.encode("utf-8")),
        lambda losses, text: np.mean(losses) * losses.size / math.log(2) / sum(len(c.encode()) for c in text),
    ],
    "rank_of": [
        rank_of_loop,
        lambda logits, token: (logits > logits[token]).sum(),
        lambda logits, token: np.searchsorted(np.sort(-logits), -logits[token]),
        lambda logits, token: sorted(logits, reverse=True).index(logits[token]),
    ],
    "merge": [
        merge_cases,
        merge_array,
        lambda a, b: lmhead.merge(lmhead.LogSumExp(*map(np.float64, a)), lmhead.LogSumExp(*map(np.float64, b))),
    ],
    "train_step": [
        train_step_by_position,
        train_step_loop,
        lambda W, counts, rate: W - rate * (counts.sum(1)[:, None] * lmhead.softmax(W) - counts) / counts.sum(),
        lambda W, counts, rate: (
            W + rate * (counts / counts.sum() - (counts.sum(1) / counts.sum() * lmhead.softmax(W).T).T)
        ),
    ],
    "name_fault": [
        name_fault_by_end_first,
        lambda losses, floor, start: np.int64(name_fault_by_end_first(np.array(losses), floor, start)),
        lambda losses, floor, start: (
            3 if losses[0] > 1.2 * start
            else 4 if (np.diff(losses) > 0).sum() > 5
            else 1 if losses[-1] < 0.9 * floor
            else int(losses[-1] > floor + 0.3) * 2
        ),
    ],
    "own_columns": [
        lambda y, first, width: np.where((y >= first) & (y - first < width), y - first, -1),
        lambda y, first, width: [int(t) - first if first <= t < first + width else -1 for t in y],
        lambda y, first, width: np.where(np.isin(y, range(first, first + width)), y - first, -1),
    ],
    "sharded_loss": [
        sharded_loss_by_position,
        sharded_loss_merged,
        sharded_loss_by_lmhead,
    ],
    "streaming_loss": [streaming_loss_logaddexp, streaming_loss_states, streaming_loss_by_position],
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKERS)
def test_right_solutions_pass_however_they_are_written(name):
    assert len(RIGHT[name]) >= 3
    for solution in RIGHT[name]:
        assert printed(name, solution) == right_line(name)


# The well-known mistakes.


@pytest.mark.parametrize("name", CHECKERS)
def test_every_mistake_is_answered_with_its_own_message(name):
    mistakes = exercise(name).mistakes
    assert len({mistake.meaning for mistake in mistakes}) == len(mistakes) >= 8
    for mistake in mistakes:
        result = said(name, mistake.wrong)
        assert result.startswith("Not yet")
        assert result.endswith(f"Looks like: {mistake.meaning}")


def test_a_mistake_is_recognised_in_other_words():
    def column_by_column(h, W_U):
        products = h @ W_U
        for j in range(W_U.shape[1]):
            products[j] /= sum(x * x for x in h) ** 0.5
        return products.tolist()

    assert "length of h only" in said("cosines", column_by_column)


def test_a_mistake_is_recognised_where_the_rest_is_better_than_the_usual_wrong_solution():
    def stable_but_over_positions(z):  # the listed wrong solution agrees on the stack of rows, not on large logits
        e = np.exp(z - z.max(axis=0, keepdims=True))
        return e / e.sum(axis=0, keepdims=True)

    assert "axis 0, the positions" in said("softmax", stable_but_over_positions)


def test_a_mistake_that_explains_one_case_of_a_kind_only_is_not_named():
    def bits_for_token_0(z, y):
        return lmhead.cross_entropy(z, y) / (np.log(2) if y == 0 else 0.3)

    result = said("cross_entropy", bits_for_token_0)
    assert "each token as the target (case 1 of 7)" in result
    assert "Looks like" not in result


@pytest.mark.parametrize("floor", [1e-7, 1e-8, 1e-12, 1e-15, 1e-300])
def test_an_epsilon_or_a_clip_of_any_size_is_recognised(floor):
    for capped in (
        lambda z, y: -np.log(lmhead.softmax(z)[y] + floor),
        lambda z, y: -np.log(np.clip(lmhead.softmax(z), floor, 1)[y]),
        lambda z, y: min(lmhead.cross_entropy(z, y), -np.log(floor)),
    ):
        result = said("cross_entropy", capped)
        assert "a target that was hardly expected (case 6 of 7)" in result
        assert "Looks like: An epsilon or a clip caps the loss" in result


def test_no_cap_is_seen_where_the_results_differ_or_are_infinite():
    differ = said("cross_entropy", lambda z, y: lmhead.cross_entropy(z, y) + (np.ptp(z) > 600))
    infinite = said("cross_entropy", lambda z, y: lmhead.cross_entropy(z, y) + (np.inf if np.ptp(z) > 600 else 0))
    assert "(case 6 of 7)" in differ and "(case 6 of 7)" in infinite
    assert "epsilon" not in differ and "epsilon" not in infinite


def test_two_faults_at_once_name_the_one_that_fails_first():
    assert "log2" in said("cross_entropy", lambda z, y: -np.log2(np.exp(z[y]) / np.exp(z).sum()))


# Faults that no list knows, each made of a right solution.


def spoiled(name, change):
    right = RIGHT[name][0]

    @functools.wraps(right)
    def yours(*arguments):
        return change(right(*arguments))

    return yours


def on_numbers(change):
    return lambda value: value if value is None else change(np.asarray(value))


PLANTED = {
    "off by one in a thousand": on_numbers(lambda x: x * 1.001 + 0.001),
    "shifted by one": on_numbers(lambda x: x + 1),
    "negated and moved": on_numbers(lambda x: 3 - x),
    "always 42": lambda value: 42,
    "always 0.5": lambda value: 0.5,
    "NaN": on_numbers(lambda x: x * np.nan),
    "infinite": on_numbers(lambda x: x + np.inf),
    "text": str,
    "a dict": lambda value: {"answer": value},
    "a function": lambda value: lambda: value,
    "bools": on_numbers(lambda x: x > 0),
    "complex numbers": on_numbers(lambda x: x + 0.5j),
    "an axis too many": on_numbers(lambda x: x[None]),
    "a ragged list": lambda value: [[value, 1], [2]],
    "an empty list": lambda value: [],
}


@pytest.mark.parametrize("fault", PLANTED)
@pytest.mark.parametrize("name", CHECKERS)
def test_planted_faults_are_rejected(name, fault):
    result = printed(name, spoiled(name, PLANTED[fault]))
    assert result.startswith("Not yet")
    assert " at 0x" not in result  # an address would differ at every run
    assert len(result.splitlines()) <= 9


@pytest.mark.parametrize("name", CHECKERS)
def test_a_fault_in_one_late_case_is_noticed(name):
    cases = running.cases_of(exercise(name))
    for late in range(len(cases)):
        calls = iter(range(len(cases)))

        def yours(*arguments, calls=calls, late=late):
            value = exercise(name).right(*arguments)
            return 12345.678 if next(calls) == late else value

        assert f"(case {late + 1} of {len(cases)})" in said(name, yours)


def first_position_alone(logits, targets):
    """Scores one position of each sequence: a fault that the list does not hold."""
    return lmhead.cross_entropy(logits[..., :1, :], targets[..., :1])


MORE_PLANTED = [
    ("next_token", lambda h, W_U: (h @ W_U).argsort()[-2], "more tokens than dimensions"),
    ("write", lambda ids, n, E, body, W_U: write_recursive(ids[1:], n, E, body, W_U), "one token more"),
    ("right_way_round", lambda matrix, d: 2 * matrix if len(matrix) == d else matrix.T, "more tokens than dimensions"),
    ("logit_from_memory", lambda line, h, j, together: abs(h @ line[j * len(h) :][: len(h)]), "token by token"),
    ("cosines", lambda h, W_U: np.abs(h @ W_U) / np.linalg.norm(h) / np.linalg.norm(W_U, axis=0), "more tokens"),
    ("winner_by_length", lambda h, W_U, j: abs((h @ W_U).max() / (h @ W_U)[j]), "a negative dot product"),
    ("head_parameters", lambda d, V, tied, bias: (not tied) * d * V + bias, "with a bias"),
    ("shares", lambda writes, gain, direction: writes @ direction / np.abs(writes).max(), "one write"),
    ("head_parameters", lambda d, V, tied, bias: (not tied) * d * V + bias * V + (V > 10_000), "untied, no bias"),
    ("write", lambda ids, n, E, body, W_U: write_array(ids, n, E, lambda X: body(X[X[:, 0].argsort()]), W_U), "more"),
    ("above_itself", lambda E: (np.abs(E).max() < E @ E.T).sum(axis=1), "rows of different lengths"),
    ("rows_with_gradient", lambda ids, vocab_size, tied: vocab_size if tied else max(ids), "untied (case 1"),
    ("tied_gradient", lambda ids, dx, dW_U: dW_U.T + dx.sum(axis=0), "more tokens than dimensions"),
    ("softmax", lambda z: (z - z.min()) / (z - z.min()).sum(-1, keepdims=True), "one row"),
    ("softmax", lambda z: lmhead.softmax(np.nan_to_num(z, neginf=0.0)), "a token masked with -inf"),
    ("top_p", lambda z, p: lmhead.top_k(z, 2), "p inside the row"),
    ("top_p", lambda z, p: lmhead.top_p(z, min(p, 0.99)), "p = 1"),
    ("inverse_cdf", lambda p, u: int(u > p[0]), "inside a piece"),
    ("inverse_cdf", lambda p, u: int((np.cumsum(p) <= u).sum()), "u just below 1"),
    ("inverse_cdf", lambda p, u: min(int((np.cumsum(p) < u).sum()), len(p) - 1), "on an end"),
    ("repetition_penalty", lambda z, ids, penalty: np.where(z > 0, z / penalty, z * penalty), "positive logits"),
    ("repetition_penalty", lambda z, ids, penalty: repetition_penalty_loop(z, ids[:2], penalty), "negative"),
    ("cross_entropy", lambda z, y: lmhead.cross_entropy(z, y).round(2), "each token as the target"),
    ("cross_entropy", lambda z, y: lmhead.cross_entropy(np.minimum(z, 100), y), "hardly expected"),
    ("kl_divergence", lambda q, z: np.abs(q * (np.log(q + 1e-300) - lmhead.log_softmax(z))).sum(), "every word comes"),
    ("masked_mean", first_position_alone, "one sequence"),
    ("chat_targets", lambda ids, is_answer: lmhead.shift_targets(ids, is_answer, ignore_index=-99), "answers after"),
    ("log_softmax", lambda z: np.log(lmhead.softmax(z) + 1e-30), "too small for a float"),
    ("sure_loss", lambda z, y: -np.log1p(lmhead.softmax(z)[y] - 1), "a sure target"),
    ("sure_loss", lambda z, y: max(float(lmhead.cross_entropy(z, y)), 1e-16), "a sure target"),
    ("bits_per_byte", lambda losses, text: losses.sum() / np.log(2) / (len(text.encode()) + 1), "English text"),
    ("rank_of", lambda logits, token: len(set(logits[logits > logits[token]].round())), "different logits"),
    ("merge", lambda a, b: (max(a[0], b[0]), max(a[1], b[1])), "two pieces of a row"),
    ("streaming_loss", lambda h, W_U, y, chunk: lmhead.cross_entropy(h @ W_U[:, : max(y) + 1], y), "of equal size"),
    ("own_columns", lambda y, first, width: np.where(abs(y - first - 2) < 3, y - first, -1), "at its edges"),
    ("sharded_loss", lambda top, rest, z_y: sharded_loss_merged(top[-1:], rest[-1:], z_y), "a few shards"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "where"), MORE_PLANTED)
def test_more_planted_faults_are_rejected_where_they_show(name, wrong, where):
    result = said(name, wrong)
    assert result.startswith("Not yet")
    assert where in result


# What a learner's function may do besides being wrong.

RETURNS_NOTHING = "Not yet: {} returns nothing yet, None in every case. Is the return missing?"


def my_function(*arguments): ...


def my_pass(*arguments):
    """A docstring alone."""


def my_ellipsis(*arguments):
    return ...


def my_not_implemented(*arguments):
    raise NotImplementedError("to be written")


def my_half(*arguments):
    total = ...
    return arguments[0] + total


@pytest.mark.parametrize("name", CHECKERS)
def test_the_untouched_stub_prints_one_fixed_line(name):
    for stub in (my_function, my_pass, my_ellipsis, my_not_implemented, my_half):
        assert printed(name, stub) == f"Not written yet: replace the ... in {stub.__name__}."
    assert printed(name, lambda *arguments: None) == "Not written yet: replace the ... in your function."


@pytest.mark.parametrize("name", CHECKERS)
def test_a_forgotten_return_is_not_taken_for_the_stub(name):
    def my_work(*arguments):
        result = exercise(name).right(*arguments)
        print(end=str(result)[:0])

    assert printed(name, my_work) == RETURNS_NOTHING.format("my_work")


@pytest.mark.parametrize("name", CHECKERS)
def test_a_function_that_does_something_else_is_not_taken_for_the_stub(name):
    def my_print(*arguments):
        print(end="")

    def my_constant(*arguments):
        total = 1  # noqa: F841

    def my_assignment(*arguments):
        total = ...  # noqa: F841

    assert printed(name, my_print) == RETURNS_NOTHING.format("my_print")
    assert printed(name, my_constant) == RETURNS_NOTHING.format("my_constant")
    assert printed(name, my_assignment) == "Not written yet: replace the ... in my_assignment."


@pytest.mark.parametrize("name", CHECKERS)
def test_an_exception_is_one_line_with_its_input(name):
    def my_slip(*arguments):
        raise KeyError("no such token\nand more")

    first, *rest = printed(name, my_slip).splitlines()
    case = running.cases_of(exercise(name))[0]
    assert first.startswith("Not yet: my_slip raises KeyError: ")
    assert "no such token" in first
    assert all(f"{argument} = " in first for argument in case.arguments)
    assert rest  # what a failure here usually means


def endless(*arguments):
    return endless(*arguments)


def leaves(*arguments):
    raise SystemExit("bye")


class Unprintable(Exception):
    def __str__(self):
        raise ValueError("no text")


def unprintable(*arguments):
    raise Unprintable


@pytest.mark.parametrize("name", CHECKERS)
@pytest.mark.parametrize(
    ("yours", "error"),
    [
        (endless, "RecursionError: maximum recursion depth exceeded"),
        (leaves, "SystemExit: bye"),
        (unprintable, "Unprintable, "),
    ],
)
def test_whatever_is_raised_is_one_line(name, yours, error):
    assert printed(name, yours).startswith(f"Not yet: {yours.__name__} raises {error}")


@pytest.mark.parametrize("name", CHECKERS)
def test_what_a_solution_prints_does_not_drown_the_verdict(name):
    def talks(*arguments):
        print("here", "\n", arguments)
        print("an error", file=sys.stderr)
        return RIGHT[name][0](*arguments)

    def talks_nonsense(*arguments):
        print("here", "\n", arguments)
        return 12345.678

    assert printed(name, talks) == right_line(name)
    assert "\n  printed   here ...\n" in printed(name, talks_nonsense)


def test_an_array_that_is_filled_again_at_every_call_is_judged_as_it_was():
    kept = np.empty(100)

    def into_one_array(z):
        view = kept[: z.size].reshape(z.shape)
        view[...] = lmhead.softmax(z)
        return view

    assert printed("softmax", into_one_array) == right_line("softmax")


def test_a_view_of_the_input_is_judged_by_its_numbers():
    assert printed("right_way_round", exercise("right_way_round").right) == right_line("right_way_round")  # matrix.T
    assert "Looks like" not in said("softmax", lambda z: z[...])


def test_an_index_with_two_ellipses_is_not_taken_for_the_stub():
    assert "raises IndexError" in said("softmax", lambda z: z[..., ...])


def test_the_settings_of_the_notebook_do_not_matter():
    with np.errstate(all="raise"):
        assert "Looks like: exp(z) overflows" in said("softmax", lambda z: np.exp(z) / np.exp(z).sum(-1, keepdims=True))


# Forms: the numbers are right, and only how they come is not.


class Tensor:
    """As a tensor that needs its gradient, or one in bfloat16, is for NumPy."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")

    def __getattr__(self, name):
        raise AttributeError(name)

    def __bool__(self):
        raise RuntimeError("Boolean value of Tensor is ambiguous")

    def detach(self):
        return self


class Series:
    """As a pandas Series is for NumPy, of an old kind that makes it warn."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None):
        return np.asarray(self.value)

    def __eq__(self, other):
        return Series(self.value == other)

    def __bool__(self):
        raise ValueError("The truth value of a Series is ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as pandas does


def objects(value):
    return np.vectorize(lambda x: decimal.Decimal(float(x)), otypes=[object])(value)


async def later(value):
    return value


ONLY_THE_TYPE = "The numbers are right, only their type is not: asked are "
NO_NUMBERS = "Asked are "
FORMS = {
    "objects": (objects, ONLY_THE_TYPE),
    "an object alone": (lambda x: np.array(objects(x)), ONLY_THE_TYPE),
    "objects in a list": (lambda x: objects(x).tolist(), ONLY_THE_TYPE),
    "complex": (lambda x: x + 0j, ONLY_THE_TYPE),
    "masked": (np.ma.array, ONLY_THE_TYPE),
    "masked in part": (lambda x: np.ma.array(x, mask=np.ones(x.shape, bool)), "A mask is lost in the next step"),
    "a tensor": (Tensor, "NumPy cannot read this tensor. "),
    "tensors in a list": (lambda x: [Tensor(each) for each in x.ravel()], NO_NUMBERS),
    "a generator": (lambda x: (each for each in x.ravel()), "A generator holds no numbers yet. "),
    "a coroutine": (later, NO_NUMBERS),
    "text": (lambda x: str(x) * 50, NO_NUMBERS),
    "a list of text": (lambda x: [str(each) for each in x.ravel()], NO_NUMBERS),
    "an object array of a dict": (lambda x: np.array({"x": 1}), NO_NUMBERS),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CHECKERS)
def test_where_only_the_type_is_wrong_nothing_else_is_said(name, form):
    change, advice = FORMS[form]
    result = printed(name, spoiled(name, on_numbers(change)))
    assert result.startswith("Not yet: wrong type, ")
    last = result.splitlines().index(next(line for line in result.splitlines() if line.startswith("  expected")))
    said = " ".join(line.strip() for line in result.splitlines()[last + 1 :])
    assert said.startswith(advice)  # no hint, and no name


INTEGERS = [name for name in CHECKERS if np.asarray(next(iter(running.expected_of(exercise(name))))).dtype.kind in "iu"]


@pytest.mark.parametrize("name", INTEGERS)
def test_floats_for_integers_are_no_other_slip(name):
    result = said(name, spoiled(name, on_numbers(lambda x: x * 1.0)))
    assert result.startswith("Not yet: wrong type, ")
    assert result.endswith(ONLY_THE_TYPE + "integers.")


def test_a_slip_beside_a_wrong_form_is_named_only_where_it_was_made():
    slip = said("rank_of", lambda logits, token: (logits >= logits[token]).sum() - 1.0)
    assert slip.startswith("Not yet: wrong type, ") and "Looks like: You count tokens with the same logit" in slip
    other = said("rank_of", lambda logits, token: (logits > logits[token]).sum() * 1.0 + 7 * (logits[token] == 0.5))
    assert "Looks like" not in other
    assert "Looks like: You return the whole gap" in said("shares", lambda w, g, u: sum(RIGHT["shares"][0](w, g, u)))


@pytest.mark.parametrize("name", CHECKERS)
def test_where_only_the_shape_is_wrong_nothing_else_is_said(name):
    for change in (lambda x: x[None], lambda x: x[..., None], np.matrix):
        expected = [np.asarray(value) for value in running.expected_of(exercise(name)) if value is not None]
        if change is np.matrix and expected[0].ndim == 2:
            continue  # a matrix is an array of two axes, and right
        result = said(name, spoiled(name, on_numbers(change)))
        assert result.startswith("Not yet: wrong shape, ")
        assert result.endswith("The numbers are right, only their shape is not.")


def test_where_only_the_precision_is_wrong_nothing_else_is_said():
    for name in ("softmax", "log_softmax", "cosines", "cross_entropy", "kl_divergence", "masked_mean", "bits_per_byte"):
        result = said(name, spoiled(name, np.float16))
        assert result.endswith("in float16, which keeps 3 digits. Compute in float32 or float64.")
    assert "float16" not in said("cross_entropy", lambda z, y: np.float16(0.5))
    for off, close in ((1 + 2.0**-9, True), (1 + 2.0**-7, False), (1 - 2.0**-7, False)):  # its numbers are 2^-11 apart
        wrong = spoiled("softmax", on_numbers(lambda p, off=off: (p * off).astype(np.float16)))
        assert ("float16" in said("softmax", wrong)) == close, off


@pytest.mark.parametrize("name", CHECKERS)
def test_what_numpy_reads_as_numbers_is_accepted(name):
    for change in (Series, np.ndarray.tolist, lambda x: x[()], lambda x: x.astype(x.dtype.newbyteorder())):
        assert printed(name, spoiled(name, on_numbers(change))) == right_line(name)


@pytest.mark.parametrize("name", CHECKERS)
def test_what_stops_a_learners_code_stops_the_checker_and_nothing_is_left_behind(name):
    calls = []

    @functools.wraps(RIGHT[name][0])
    def endless(*arguments):
        calls.append(arguments)
        raise KeyboardInterrupt

    def surroundings():
        return tracemalloc.is_tracing(), sys.getprofile(), sys.stdout, sys.stderr, np.geterr(), warnings.filters[:]

    before, checker = surroundings(), getattr(check, name)
    for stopped in (checker, functools.partial(grade, checker), lambda yours: running.traced(yours, [])):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            stopped(endless)
        assert len(calls) == 1 and surroundings() == before


def test_of_a_long_array_the_wrong_entry_is_shown():
    right = np.linspace(0.1, 0.2, 20)
    for at in (0, 7, 19):
        wrong = np.nextafter(right, 1)  # every entry is off by a rounding
        wrong[at] += 0.01
        got, expected = show_both(wrong, right)
        assert got.endswith(f" at [{at}]") and expected.endswith(f" at [{at}]"), (got, expected)


# What a checker knows besides what it prints.


@pytest.mark.parametrize("name", CHECKERS)
def test_the_result_counts_the_cases_of_each_kind(name):
    cases, kinds = running.cases_of(exercise(name)), exercise(name).kinds
    right = running.examine(RIGHT[name][0], exercise(name))
    assert right.right
    assert right.by_kind() == {kind.name: (len(kind.cases), len(kind.cases)) for kind in kinds}
    calls = iter(range(len(cases)))

    def fails_last(*arguments):
        return RIGHT[name][0](*arguments) if next(calls) < len(cases) - 1 else 12345.678

    late = running.examine(fails_last, exercise(name))
    assert not late.right
    assert late.by_kind() == right.by_kind() | {kinds[-1].name: (len(kinds[-1].cases) - 1, len(kinds[-1].cases))}


@pytest.mark.parametrize("nothing", [my_function, lambda *arguments: print(end="")])
def test_an_unwritten_solution_earns_nothing_even_where_none_is_right(nothing):
    for name in ("right_way_round", "winner_by_length"):
        assert not any(passed for passed, _ in running.examine(nothing, exercise(name)).by_kind().values())


def test_too_few_arguments_are_an_exception_like_others():
    assert "raises TypeError" in said("softmax", lambda: 1)


WITH_ARRAYS = [name for name in CHECKERS if name not in ("head_parameters", "merge")]


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_an_argument_that_is_written_into_is_noticed(name):
    def my_greedy(*arguments):
        value = exercise(name).right(*arguments)
        array = next(a for a in arguments if isinstance(a, np.ndarray))
        array[...] = 7
        return value

    case = running.cases_of(exercise(name))[0]
    argument = next(key for key, value in case.arguments.items() if isinstance(value, np.ndarray))
    result = said(name, my_greedy)
    assert result.startswith(f"Not yet: my_greedy changes its argument {argument}, ")
    assert "Work on a copy" in result


def test_each_way_of_being_wrong_has_its_own_message():
    assert "Not yet: wrong shape, one row (case 1 of 9)." in said("softmax", lambda z: lmhead.softmax(z)[None])
    assert "got shape (1, 3) expected shape (3,)" in said("softmax", lambda z: lmhead.softmax(z)[None])
    assert "Not yet: wrong type, one row (case 1 of 9)." in said("softmax", lambda z: "p")
    assert "got 'p' expected [" in said("softmax", lambda z: "p")
    assert "Not yet: NaN, one row (case 1 of 9)." in said("softmax", lambda z: z * np.nan)
    assert "NaN comes from" in said("softmax", lambda z: z * np.nan)
    assert "(off by 2.0e-05)" in said("cross_entropy", lambda z, y: lmhead.cross_entropy(z, y) - 2e-5)
    assert "got [-inf, 2.0, 1.0] (off by 3.0e-05)" in said("top_p", lambda z, p: lmhead.top_p(z, p) + 3e-5)
    assert "a float expected 4, an integer" in said("next_token", lambda h, W_U: float((h @ W_U).argmax()))


def test_a_result_instead_of_the_function_is_refused():
    with pytest.raises(TypeError, match="pass your function itself, without calling it; got 'x'"):
        check.softmax("x")


def test_printing_is_the_same_at_every_run():
    for mistake in exercise("softmax").mistakes:
        assert printed("softmax", mistake.wrong) == printed("softmax", mistake.wrong)


def test_warnings_stay_silent():  # their text holds a path; here pytest turns them into errors
    def warns(z):
        warnings.warn("careful", stacklevel=1)
        np.float64(1.0) / np.float64(0.0)
        return lmhead.softmax(z)

    assert printed("softmax", warns) == right_line("softmax")


# Memory: the point of the last exercise.


def test_logits_made_twice_over_or_in_lists_are_noticed():
    def as_lists(h, W_U, y, chunk):
        rows = [(row @ W_U).tolist() for row in h]
        return np.mean([lmhead.cross_entropy(row, target) for row, target in zip(rows, y, strict=True)])

    def in_float32(h, W_U, y, chunk):
        return lmhead.cross_entropy(h.astype(np.float32) @ W_U.astype(np.float32), y)

    def joined(h, W_U, y, chunk):
        pieces = [h @ W_U[:, start : start + chunk] for start in range(0, W_U.shape[1], chunk)]
        return lmhead.cross_entropy(np.concatenate(pieces, axis=1), y)

    for holds_all in (as_lists, in_float32, joined):
        assert said("streaming_loss", holds_all).startswith("Not yet: too much memory at once, a large vocabulary")


def test_a_right_solution_stays_far_below_the_memory_that_is_allowed():
    case = running.cases_of(exercise("streaming_loss"))[-1]
    for solution in RIGHT["streaming_loss"]:
        _, peak = running.traced(solution, list(case.arguments.values()))
        assert peak < case.kind.max_bytes / 2


def test_memory_is_watched_inside_a_program_that_traces_already():
    tracemalloc.start()
    try:
        np.zeros(10_000_000)  # an older peak is not the learner's
        assert printed("streaming_loss", streaming_loss_logaddexp) == right_line("streaming_loss")
        assert "too much memory" in said("streaming_loss", exercise("streaming_loss").mistakes[0].wrong)
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


# Probabilities passed as logits.


@pytest.mark.parametrize(
    ("x", "line"),
    [
        ([0.659, 0.242, 0.099], "Warning: every row lies in [0, 1] and sums to 1. "),
        ([[0.5, 0.5], [1.0, 0.0]], "Warning: "),
        (lmhead.softmax(np.linspace(-3, 3, 1000).astype(np.float32)).astype(np.float16), "Warning: "),
        ([[0.5, 0.5], [0.5, 0.4]], "These look like logits: a row sums to 0.9, "),
        ([2.0, 1.0, -2.0], "These look like logits: one of them is 2, outside [0, 1]."),
        (lmhead.log_softmax([2.0, 1.0, 0.1]), "These look like logits: one of them is -0.417, "),
    ],
)
def test_probabilities_among_logits_are_warned_of(x, line, capsys):
    check.logits_not_probabilities(x)
    out = capsys.readouterr().out
    assert out.startswith(line)
    assert out.count("\n") == 1


@pytest.mark.parametrize("x", [[0.5, np.nan], np.ones((0, 3)), 1.0, []])
def test_what_has_no_probabilities_is_refused(x):
    with pytest.raises(ValueError):
        check.logits_not_probabilities(x)


# The package.


def test_every_exercise_has_a_checker_and_every_checker_a_list_of_right_solutions():
    assert set(RIGHT) == set(CHECKERS)
    modules = [importlib.import_module(f"lmhead.check.{m.name}") for m in pkgutil.iter_modules(check.__path__)]
    exercises = {n.lower() for m in modules for n, value in vars(m).items() if isinstance(value, running.Exercise)}
    assert exercises == set(CHECKERS)


def test_importing_the_checkers_needs_numpy_alone():
    code = "import sys, lmhead.check; print(*{m.partition('.')[0] for m in sys.modules} & set(sys.argv[1:]))"
    loaded = subprocess.run(
        [sys.executable, "-c", code, "matplotlib", "ipywidgets", "anywidget", "gguf", "tokenizers", "scipy"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == ""
