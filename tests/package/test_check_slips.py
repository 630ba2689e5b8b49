"""A slip is named for what it is: a second wrong solution of its kind gets its name, one of another kind does not.

And every kind of case is needed: some wrong solution fails there and nowhere else.
"""

import itertools
import math
import sys

import numpy as np
import pytest

import lmhead
from lmhead import check
from lmhead.check import run as running

norm = np.linalg.norm


def exercise(name):
    return getattr(sys.modules[getattr(check, name).__module__], name.upper())


def examined(name, yours):
    return running.examine(yours, exercise(name))


def said(name, yours):
    """The verdict as one line."""
    return " ".join(examined(name, yours).text.split())


# What several of the wrong solutions below are made of.


def loop_softmax(z, power=math.exp):
    weights = [power(float(x) - float(max(z))) for x in z]
    return np.array(weights) / sum(weights)


def over_rows(function):
    """The same for every row of an array of any shape."""
    return lambda z: np.apply_along_axis(function, -1, np.asarray(z))


def extended(choose):
    """`write` by recursion; `choose(ids, E, body, W_U)` gives the next id."""

    def write(ids, n, E, body, W_U):
        return list(ids) if n == 0 else write([*ids, int(choose(ids, E, body, W_U))], n - 1, E, body, W_U)

    return write


def best(ids, E, body, W_U):
    return np.argmax(W_U.T @ body(E[np.array(ids)])[-1])


right_write = extended(best)


def factor(z, j):
    return max(z) / z[j] if z[j] > 0 else None


def dots(E):
    return np.array([[float(np.dot(a, b)) for b in E] for a in E])


def counts(E, higher):
    """How many j are `higher(score of j after i, score of i after i)`."""
    return [sum(bool(higher(row[j], row[i])) for j in range(len(E))) for i, row in enumerate(dots(E))]


def add_rows(ids, dx, dE):
    dE = np.array(dE, float)
    for token, row in zip(ids, dx, strict=True):
        dE[token] = dE[token] + row
    return dE


def stepped(W_U, counts, rate, p=None, n=None):
    """A step of training with another p, or other counts of what was read."""
    p = over_rows(loop_softmax)(W_U) if p is None else p
    n = np.array([[sum(row)] for row in counts]) if n is None else n
    return W_U - rate * (n * p - counts) / counts.sum()


def scale(writes):
    return math.sqrt(sum(x * x for x in sum(writes)) / writes.shape[1])


def curve_fault(losses, floor, start, room=0.1, high=0.15):
    if losses[0] - start > room:
        return 3
    if max(b - a for a, b in itertools.pairwise(losses)) > 1e-3:
        return 4
    return 1 if floor - losses[-1] > 0.01 else 2 if losses[-1] - floor > high else 0


def kept(z, ids):
    return np.array([z[j] if j in set(np.asarray(ids).tolist()) else -np.inf for j in range(len(z))])


def down(z):
    return sorted(range(len(z)), key=lambda j: -z[j])


def nucleus(z, p, more=0):
    """The ids that top-p keeps, and `more` of those that come next."""
    total, count = 0.0, 0
    for j in down(z):
        if total >= p:
            break
        total, count = total + lmhead.softmax(z)[j], count + 1
    return down(z)[: max(count + more, 0)]


def kept_least(z, p):
    """What is left of z if one starts from the least likely token."""
    total, ids = 0.0, []
    for j in reversed(down(z)):
        ids.append(j)
        total += lmhead.softmax(z)[j]
        if total >= p:
            break
    return kept(z, ids)


def piece(p, u):
    end = 0.0
    for token, width in enumerate(p):
        end += width
        if u * sum(p) < end:
            return token
    return len(p)


def penalised(z, ids, rule):
    return np.array([rule(x) if j in set(ids.tolist()) else x for j, x in enumerate(z)])


def cost(z, y):
    top = max(z)
    return math.log(sum(math.exp(x - top) for x in z)) + top - z[y]


def entropy(q):
    return -sum(x * math.log(x) for x in q if x > 0)


def crossed(q, z):
    return sum(x * cost(z, i) for i, x in enumerate(q))


def costs(logits, targets):
    """The costs of the flattened positions that are not ignored."""
    rows = zip(logits.reshape(-1, logits.shape[-1]), targets.ravel(), strict=True)
    return [cost(z, y) for z, y in rows if y != -100]


def filled(logits, targets, y):
    """The costs of all positions, target `y` where they are ignored."""
    rows = zip(logits.reshape(-1, logits.shape[-1]), targets.ravel(), strict=True)
    return [cost(z, y if target == -100 else target) for z, target in rows]


def shifted(ids, is_answer, ignore=-100, last=-100):
    return [int(i) if a else ignore for i, a in zip(ids[1:], is_answer[1:], strict=True)] + [last]


def row_log_softmax(z):
    return np.array([-cost(z, j) for j in range(len(z))])


def row_naive(z):
    return z - np.log(sum(np.exp(x) for x in z))


def others(z, y):
    return sum(np.exp(x - z[y]) for j, x in enumerate(z) if j != y)


def sure(z, y):
    k = int(np.argmax(z))
    return float(z[k] - z[y]) + math.log1p(math.fsum(math.exp(x - z[k]) for j, x in enumerate(z) if j != k))


def bits(losses):
    return sum(losses) / math.log(2)


def above(z, token):
    return sum(x > z[token] for x in z)


def order(a, b):
    return (a, b) if a[0] <= b[0] else (b, a)


def joined(a, b, weight):
    """A merge whose lower piece counts `weight(low, high)`; nothing of it if it is empty."""
    low, high = order(a, b)
    return high[0], high[1] + (0.0 if low[0] == -np.inf else weight(low, high))


def fair(low, high):
    return (1 + low[1]) * math.exp(low[0] - high[0])


def first_largest(tops, rests):
    return rests[list(tops).index(max(tops))]


def of_shards(top, rest, z_y, log_sum):
    """m - z_y plus `log_sum(top, rest, m)`."""
    m = np.max(top, axis=0)
    return m - np.nansum(z_y, axis=0) + log_sum(top, rest, m)


def rest_of(top, rest, ratio=lambda a, b: np.exp(a - b)):
    """All exponentials in units of the largest, less its own 1."""
    k, n = top.argmax(axis=0), np.arange(top.shape[1])
    weight = (1 + rest) * ratio(top, top[k, n])
    weight[k, n] = rest[k, n]
    return weight.sum(axis=0)


def by_logaddexp(h, W_U, y, chunk, starts, target=None):
    """Each position's loss out of the pieces that begin at `starts`."""
    lse = np.full(len(h), -np.inf)
    for start in starts:
        lse = np.logaddexp(lse, lmhead.logsumexp(h @ W_U[:, start : start + chunk]))
    return lse - ((h * W_U[:, y].T).sum(axis=1) if target is None else target)


def starts(W_U, chunk):
    return range(0, W_U.shape[1], chunk)


def running_sum(h, W_U, y, chunk, base=None):
    """The sum by pieces from one `base`, the maximum only at the end."""
    m, s = np.full(len(h), -np.inf), np.zeros(len(h))
    for start in starts(W_U, chunk):
        z = h @ W_U[:, start : start + chunk]
        m = np.maximum(m, z.max(axis=1)) if base is None else np.full(len(h), base)
        s += np.exp(z - m[:, None]).sum(axis=1)
    return (m + np.log(s) - (h * W_U[:, y].T).sum(axis=1)).mean()


def last_lookup(h, W_U, y, chunk):
    z_y = np.zeros(len(h))
    for start in starts(W_U, chunk):
        z = h @ W_U[:, start : start + chunk]
        for n, token in enumerate(y % chunk):
            z_y[n] = z[n, token] if token < z.shape[1] else z_y[n]
    return by_logaddexp(h, W_U, y, chunk, starts(W_U, chunk), z_y).mean()


# For each checker, in the order of its list of mistakes: the same slip made by somebody else.

SECOND = {
    "next_token": [
        lambda h, W_U: max(float(h @ column) for column in W_U.T),
        lambda h, W_U: np.argsort(W_U.T @ h)[0],
        lambda h, W_U: ((W_U.T @ h) ** 2).argmax(),
        lambda h, W_U: [*range(1, W_U.shape[1] + 1)][int((h @ W_U).argmax())],
        lambda h, W_U: np.argsort(np.dot(W_U, h))[-1],
        lambda h, W_U: h.tolist().index(max(h)),
        lambda h, W_U: np.argmax([h @ w / math.hypot(*w) for w in W_U.T]),
        lambda h, W_U: np.argmin([((w - h) ** 2).sum() for w in W_U.T]),
        lambda h, W_U: loop_softmax(h @ W_U),
    ],
    "write": [
        lambda ids, n, E, body, W_U: [*ids, *([best(ids, E, body, W_U)] * n)],
        lambda ids, n, E, body, W_U: right_write(ids, n, E, body, W_U)[-n:] if n else [],
        extended(lambda ids, E, body, W_U: np.argmax(body(E[[ids[-1]]]) @ W_U)),
        extended(lambda ids, E, body, W_U: np.argmax((body(E[ids]) @ W_U)[0])),
        extended(lambda ids, E, body, W_U: np.argmax((E[ids] @ W_U)[-1])),
        extended(lambda ids, E, body, W_U: np.argmax(body(E[ids]) @ W_U) % W_U.shape[1]),
        extended(lambda ids, E, body, W_U: np.argsort(body(E[ids])[-1] @ W_U)[0]),
        lambda ids, n, E, body, W_U: extended(best)([*ids, best(ids, E, body, W_U)], n, E, body, W_U),
        lambda ids, n, E, body, W_U: np.roll(right_write(ids, n, E, body, W_U), n),
        extended(lambda ids, E, body, W_U: ((E - body(E[ids])[-1]) ** 2).sum(axis=1).argmin()),
    ],
    "right_way_round": [
        lambda matrix, d: np.array([*zip(*matrix, strict=True)]),
        lambda matrix, d: matrix + 0.0,
        lambda matrix, d: None if len(set(matrix.shape)) == 1 else np.resize(matrix, (d, matrix.size // d)),
        lambda matrix, d: np.moveaxis(matrix, [*matrix.shape].index(d), 1) if len(set(matrix.shape)) > 1 else matrix.T,
        lambda matrix, d: np.moveaxis(matrix, [*matrix.shape].index(d), 0),
        lambda matrix, d: [*zip(*matrix, strict=True)] if matrix.shape[1] == d else matrix.tolist(),
        lambda matrix, d: np.moveaxis(matrix, int(np.argmax(matrix.shape)), 1) if len(set(matrix.shape)) > 1 else None,
        lambda matrix, d: [d, matrix.size // d],
        lambda matrix, d: matrix.tolist() if matrix.shape[0] == d and matrix.shape[1] != d else None,
        lambda matrix, d: np.moveaxis(matrix, int(np.argmin(matrix.shape)), 1) if len(set(matrix.shape)) > 1 else None,
    ],
    "logit_from_memory": [
        lambda line, h, j, together: line.reshape(-1, len(h))[j] @ h,
        lambda line, h, j, together: h @ line.reshape(len(h), -1)[:, j],
        lambda line, h, j, together: np.dot(h, np.reshape(line, (len(h), -1), order="C" if together else "F"))[j],
        lambda line, h, j, together: sum(
            x * line[j + i] if together else x * line[i * (len(line) // len(h)) + j] for i, x in enumerate(h)
        ),
        lambda line, h, j, together: (
            line.reshape(-1, len(h))[j] @ h if together else h @ np.array([*line[j :: len(h)]])
        ),
        lambda line, h, j, together: np.roll(np.dot(h, np.reshape(line, (len(h), -1), "F" if together else "C")), 1)[j],
        lambda line, h, j, together: np.dot(h, np.reshape(line, (len(h), -1), order="F" if together else "C")),
        lambda line, h, j, together: [*(h * np.reshape(line, (len(h), -1), order="F" if together else "C")[:, j])],
        lambda line, h, j, together: np.reshape(line, (len(h), -1), order="F" if together else "C").T[j].tolist(),
    ],
    "cosines": [
        lambda h, W_U: [sum(a * b for a, b in zip(h, w, strict=True)) for w in W_U.T],
        lambda h, W_U: (h / math.sqrt(h @ h)) @ W_U,
        lambda h, W_U: [h @ w / math.hypot(*w) for w in W_U.T],
        lambda h, W_U: h @ W_U / math.hypot(*h) / np.array([math.hypot(*row) for row in W_U]),
        lambda h, W_U: h @ W_U / math.hypot(*h) / math.sqrt((W_U**2).sum()),
        lambda h, W_U: [h @ w / (h @ h) / (w @ w) for w in W_U.T],
        lambda h, W_U: [h @ w / norm(h, 1) / norm(w, 1) for w in W_U.T],
        lambda h, W_U: [math.acos(max(-1, min(1, h @ w / norm(h) / norm(w)))) for w in W_U.T],
        lambda h, W_U: [1.0 - h @ w / norm(h) / norm(w) for w in W_U.T],
    ],
    "winner_by_length": [
        lambda h, W_U, j: None if h @ W_U[:, j] <= 0 else 1 / factor(h @ W_U, j),
        lambda h, W_U, j: max(h @ w for w in W_U.T) / (h @ W_U[:, j]),
        lambda h, W_U, j: None if h @ W_U[:, j] < 0 else np.divide(max(h @ W_U), h @ W_U[:, j]),
        lambda h, W_U, j: max(h @ W_U - h @ W_U[:, j]) if h @ W_U[:, j] > 0 else None,
        lambda h, W_U, j: (max(h @ W_U) - h @ W_U[:, j]) / (h @ W_U[:, j]) if h @ W_U[:, j] > 0 else None,
        lambda h, W_U, j: (
            math.hypot(*W_U[:, np.argmax(h @ W_U)]) / math.hypot(*W_U[:, j]) if h @ W_U[:, j] > 0 else None
        ),
        lambda h, W_U, j: factor([h @ w / norm(w) for w in W_U.T], j),
        lambda h, W_U, j: (
            max(h @ w for i, w in enumerate(W_U.T) if i != j) / (h @ W_U[:, j]) if h @ W_U[:, j] > 0 else None
        ),
    ],
    "head_parameters": [
        lambda d, V, tied, bias: V * (d + 1) if bias else V * d,
        lambda d, V, tied, bias: 0 if tied else d * V,
        lambda d, V, tied, bias: (0 if tied else d * V) + (d if bias else 0),
        lambda d, V, tied, bias: (1 - tied) * V * (d + bias),
        lambda d, V, tied, bias: (d * V if tied else 0) + (V if bias else 0),
        lambda d, V, tied, bias: V * d + (0 if tied else d * V) + (V if bias else 0),
        lambda d, V, tied, bias: (0 if tied else d + V) + (V if bias else 0),
        lambda d, V, tied, bias: (0 if tied else 4 * d * V) + (4 * V if bias else 0),
    ],
    "above_itself": [
        lambda E: [sum(dots(E)[i, j] > dots(E)[j, j] for j in range(len(E))) for i in range(len(E))],
        lambda E: counts(E, lambda other, own: other >= own),
        lambda E: [count - 1 for count in counts(E, lambda other, own: other >= own)],
        lambda E: counts(E, lambda other, own: other < own),
        lambda E: [0] * len(E),
        lambda E: [sum(row @ row > mine @ mine for row in E) for mine in E],
        lambda E: [int(max(row) > row[i]) for i, row in enumerate(dots(E))],
        lambda E: [int(np.argsort(-row, kind="stable")[0]) for row in dots(E)],
        lambda E: sum(counts(E, lambda other, own: other > own)),
    ],
    "tied_gradient": [
        lambda ids, dx, dW_U: [*zip(*dW_U, strict=True)],
        lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[:, ids] @ dx,
        lambda ids, dx, dW_U: (
            dW_U.T
            + sum(np.outer(np.eye(dW_U.shape[1])[i], dx[max(np.flatnonzero(ids == i))]) for i in set(ids.tolist()))
        ),
        lambda ids, dx, dW_U: [dx[max(np.flatnonzero(ids == i))] if i in ids else w for i, w in enumerate(dW_U.T)],
        lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[:, ids] @ dx + dW_U,
        lambda ids, dx, dW_U: add_rows(ids, dx, np.resize(dW_U, dW_U.shape[::-1])),
        lambda ids, dx, dW_U: np.mean([add_rows(ids, dx, 0 * dW_U.T), dW_U.T], axis=0),
        lambda ids, dx, dW_U: add_rows(ids, -dx, dW_U.T),
        lambda ids, dx, dW_U: dW_U + dx.T @ np.eye(dW_U.shape[1])[ids],
    ],
    "rows_with_gradient": [
        lambda ids, V, tied: V if tied else len(set(ids.tolist())),
        lambda ids, V, tied: V if tied else len(ids[:-1]),
        lambda ids, V, tied: V if tied else ids.size,
        lambda ids, V, tied: len(set(ids[:-1].tolist())),
        lambda ids, V, tied: V + 0 * ids[0],
        lambda ids, V, tied: V if tied else len(set(ids[1:].tolist())),
        lambda ids, V, tied: V if tied else len(set(range(V)) - set(ids[:-1].tolist())),
        lambda ids, V, tied: V if not tied else len(set(ids[:-1].tolist())),
        lambda ids, V, tied: V if tied else len(set(ids.tolist()) - {int(ids[-1])}),
    ],
    "train_step": [
        lambda W_U, counts, rate: stepped(W_U, counts, -rate),
        lambda W_U, counts, rate: stepped(W_U, counts, rate * counts.sum()),
        lambda W_U, counts, rate: [w - rate * (loop_softmax(w) - c / sum(c)) for w, c in zip(W_U, counts, strict=True)],
        lambda W_U, counts, rate: [
            w - rate / len(W_U) * (loop_softmax(w) - c / sum(c)) for w, c in zip(W_U, counts, strict=True)
        ],
        lambda W_U, counts, rate: stepped(W_U, counts, rate, over_rows(loop_softmax)(W_U.T).T, counts.sum(axis=0)),
        lambda W_U, counts, rate: stepped(W_U, np.array([*zip(*counts, strict=True)]), rate),
        lambda W_U, counts, rate: stepped(W_U, counts, rate, n=sum(counts)),
        lambda W_U, counts, rate: stepped(np.zeros_like(W_U), counts, -rate, over_rows(loop_softmax)(W_U)),
        lambda W_U, counts, rate: stepped(W_U, counts, 1),
        lambda W_U, counts, rate: stepped(W_U, counts, rate, [np.exp(w) / sum(np.exp(w)) for w in W_U]),
    ],
    "shares": [
        lambda writes, gain, u: [sum(w * gain * u) for w in writes],
        lambda writes, gain, u: [w @ u / scale(writes) for w in writes],
        lambda writes, gain, u: [sum(w * u) for w in writes],
        lambda writes, gain, u: [w @ (gain * u) / (scale(w[None]) or 1.0) for w in writes],
        lambda writes, gain, u: [w @ (gain * u) / math.hypot(*writes.sum(axis=0)) for w in writes],
        lambda writes, gain, u: [w @ (gain * u) / scale(writes) ** 2 for w in writes],
        lambda writes, gain, u: [w @ (gain * u) / math.sqrt(sum(writes.ravel() ** 2) / writes.size) for w in writes],
        lambda writes, gain, u: sum(writes) @ (gain * u) / scale(writes),
        lambda writes, gain, u: [sum(writes[: i + 1]) @ (gain * u) / scale(writes) for i in range(len(writes))],
        lambda writes, gain, u: [abs(w @ (gain * u)) / scale(writes) for w in writes],
    ],
    "name_fault": [
        lambda losses, floor, start: curve_fault(losses, floor, floor),
        lambda losses, floor, start: 1 if start - losses[-1] < 0.1 else 2 * int(losses[-1] - floor > 0.15),
        lambda losses, floor, start: curve_fault([losses[-1]] * 2, floor, np.inf),
        lambda losses, floor, start: (
            4 if losses[-1] > losses[0] else curve_fault([losses[0], losses[-1]], floor, start)
        ),
        lambda losses, floor, start: [0, 2, 1, 3, 4][curve_fault(losses, floor, start)],
        lambda losses, floor, start: curve_fault(losses, floor, start, high=np.inf),
        lambda losses, floor, start: curve_fault(losses, floor, start, room=0.0),
        lambda losses, floor, start: curve_fault(losses, floor, start, high=1e-3),
        lambda losses, floor, start: [0, 1, 4, 3, 4][curve_fault(losses, floor, start)],
    ],
    "softmax": [
        over_rows(lambda z: np.exp(z) / sum(np.exp(x) for x in z)),
        lambda z: lmhead.softmax(z.T).T if z.ndim < 3 else lmhead.softmax(z, axis=0),
        lambda z: loop_softmax(z.ravel()).reshape(z.shape),
        lambda z: np.exp(z - np.max(z)) / np.exp(z - np.max(z)).sum(-1)[..., None],
        lambda z: np.exp(z - np.amax(z, -1)) / np.sum(np.exp(z - np.amax(z, -1)), -1),
        over_rows(lambda z: z / sum(z)),
        over_rows(lambda z: np.exp(z - max(z))),
        over_rows(lambda z: loop_softmax(z, lambda x: 2.0**x)),
        over_rows(row_log_softmax),
        over_rows(lambda z: loop_softmax(-z)),
        lambda z: np.exp(-np.logaddexp(0, -z)),
        over_rows(lambda z: np.exp(np.clip(z, -700, 700)) / sum(np.exp(np.clip(x, -700, 700)) for x in z)),
    ],
    "top_p": [
        lambda z, p: kept(z, nucleus(z, p, -1)),
        lambda z, p: kept(z, nucleus(z, p, +1)),
        kept_least,
        lambda z, p: [x if prob >= p else -math.inf for x, prob in zip(z, lmhead.softmax(z), strict=True)],
        lambda z, p: [x if prob >= 1 - p else -math.inf for x, prob in zip(z, lmhead.softmax(z), strict=True)],
        lambda z, p: kept(z, [j for n, j in enumerate(down(z)) if sum(z[i] for i in down(z)[:n]) < p]),
        lambda z, p: kept(z, [j for j in range(len(z)) if sum(lmhead.softmax(z)[:j]) < p]),
        lambda z, p: [z[j] if j in nucleus(z, p) else -math.inf for j in down(z)],
        lambda z, p: [x if j in nucleus(z, p) else 0.0 for j, x in enumerate(z)],
        lambda z, p: loop_softmax(kept(z, nucleus(z, p))),
        lambda z, p: [x for j, x in enumerate(z) if j in nucleus(z, p)],
        lambda z, p: kept(z, [j for n, j in enumerate(down(z)) if sum(lmhead.softmax(z)[down(z)[:n]]) <= p]),
    ],
    "inverse_cdf": [
        lambda p, u: np.searchsorted(np.cumsum(p), u),
        lambda p, u: p.tolist().index(max(p)),
        lambda p, u: down(p)[piece(p[down(p)], u)],
        lambda p, u: piece(sorted(p, reverse=True), u),
        lambda p, u: sum(x <= u for x in p),
        lambda p, u: 1 + piece(p, u),
        lambda p, u: min(range(len(p)), key=lambda j: abs(sum(p[: j + 1]) - u)),
        lambda p, u: piece(np.exp(p) / np.exp(p).sum(), u),
        lambda p, u: piece([*reversed(p)], u),
        lambda p, u: float(sum(p[: piece(p, u) + 1])),
        lambda p, u: math.floor(len(p) * u),
    ],
    "repetition_penalty": [
        lambda z, ids, penalty: penalised(z, ids, lambda x: x / penalty),
        lambda z, ids, penalty: penalised(z, ids, lambda x: x * penalty),
        lambda z, ids, penalty: penalised(z, ids, lambda x: x - penalty),
        lambda z, ids, penalty: [x * penalty ** (-np.sign(x) * sum(ids == j)) for j, x in enumerate(z)],
        lambda z, ids, penalty: [x if j in ids else min(x / penalty, x * penalty) for j, x in enumerate(z)],
        lambda z, ids, penalty: np.minimum(z / penalty, z * penalty),
        lambda z, ids, penalty: loop_softmax(penalised(z, ids, lambda x: min(x / penalty, x * penalty))),
        lambda z, ids, penalty: penalised(z, ids, lambda x: -np.inf),
        lambda z, ids, penalty: [min(z[j] / penalty, z[j] * penalty) for j in sorted(set(ids.tolist()))],
        lambda z, ids, penalty: penalised(z, ids, lambda x: max(x / penalty, x * penalty)),
    ],
    "cross_entropy": [
        lambda z, y: z[y] - math.log(sum(math.exp(x) for x in z)),
        lambda z, y: cost(z, y) * math.log2(math.e),
        lambda z, y: cost(z, y) * math.log10(math.e),
        lambda z, y: math.exp(-cost(z, y)),
        lambda z, y: 1 - math.exp(-cost(z, y)),
        lambda z, y: min(cost(z, j) for j in range(len(z))),
        lambda z, y: cost(np.roll(z, 1), y),
        lambda z, y: -float(z[y]),
        lambda z, y: cost(z, y) + z[y],
        lambda z, y: sum(cost(z, j) for j in range(len(z))),
    ],
    "kl_divergence": [
        lambda q, z: crossed(q, z) + np.dot(q, np.log(q)),
        lambda q, z: crossed(q, z),
        lambda q, z: entropy(q),
        lambda q, z: entropy(q) - crossed(q, z),
        lambda q, z: sum(
            p * (math.log(p) - (math.log(x) if x else 0)) for p, x in zip(lmhead.softmax(z), q, strict=True)
        ),
        lambda q, z: (crossed(q, z) - entropy(q)) * math.log2(math.e),
        lambda q, z: np.mean([x * (math.log(x) + cost(z, i)) if x else 0 for i, x in enumerate(q)]),
        lambda q, z: crossed(q, z) + entropy(q),
        lambda q, z: -np.dot(q, z) - entropy(q),
        lambda q, z: cost(z, int(np.argmax(q))) - entropy(q),
        lambda q, z: 0.5 * sum(abs(x - p) for x, p in zip(q, lmhead.softmax(z), strict=True)),
    ],
    "masked_mean": [
        lambda logits, targets: sum(costs(logits, targets)) / len(targets.ravel()),
        lambda logits, targets: np.mean(
            costs(logits, targets) + [math.log(logits.shape[-1])] * (targets == -100).sum()
        ),
        lambda logits, targets: np.mean(
            [cost(z, y) for z, y in zip(logits.reshape(-1, logits.shape[-1]), targets.ravel(), strict=True)]
        ),
        lambda logits, targets: np.mean(filled(logits, targets, -1)),
        lambda logits, targets: np.mean(filled(logits, targets, 0)),
        lambda logits, targets: sum(filled(logits, targets, 0)) / len(costs(logits, targets)),
        lambda logits, targets: (
            np.mean([np.mean(costs(z, y)) for z, y in zip(logits, targets, strict=True)])
            if targets.ndim > 1
            else np.mean(costs(logits, targets))
        ),
        lambda logits, targets: sum(costs(logits, targets)),
        lambda logits, targets: np.mean(costs(logits, np.where(targets == 0, -100, targets))),
        lambda logits, targets: -np.mean(costs(logits, targets)),
        lambda logits, targets: np.where(targets == -100, 0, np.reshape(filled(logits, targets, 0), targets.shape)),
        lambda logits, targets: np.mean(costs(logits, targets)) * math.log2(math.e),
    ],
    "chat_targets": [
        lambda ids, is_answer: shifted(ids, is_answer, 0, 0),
        lambda ids, is_answer: shifted(ids, is_answer, -1, -1),
        lambda ids, is_answer: [int(i) if a else -100 for i, a in zip(ids, is_answer, strict=True)],
        lambda ids, is_answer: [int(i) if a else -100 for i, a in zip([*ids[1:], -100], is_answer, strict=True)],
        lambda ids, is_answer: shifted([*ids, ids[0]], [*is_answer, is_answer[0]])[:-1],
        lambda ids, is_answer: shifted(ids, is_answer)[: len(ids) - 1],
        lambda ids, is_answer: shifted(ids, is_answer, last=int(ids[-1])),
        lambda ids, is_answer: shifted(ids, is_answer, last=0),
        lambda ids, is_answer: [-100, *(int(i) if a else -100 for i, a in zip(ids[:-1], is_answer, strict=False))],
        lambda ids, is_answer: shifted(ids, np.logical_not(is_answer)),
        lambda ids, is_answer: [*ids[1:].tolist(), -100],
    ],
    "log_softmax": [
        lambda z: np.log(
            np.exp(z - z.max(-1, keepdims=True)) / np.exp(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True)
        ),
        over_rows(row_naive),
        lambda z: np.swapaxes(lmhead.log_softmax(np.swapaxes(z, 0, -1)), 0, -1),
        lambda z: row_log_softmax(z.ravel()).reshape(z.shape),
        lambda z: z - np.max(z) - np.log(np.sum(np.exp(z - np.max(z)), -1))[..., None],
        over_rows(lambda z: z - math.log(sum(math.exp(x - max(z)) for x in z))),
        lambda z: z - np.amax(z, -1) - np.log(np.sum(np.exp(z - np.amax(z, -1)), -1)),
        over_rows(lambda z: z - max(z)),
        over_rows(lambda z: z - sum(math.exp(x - max(z)) for x in z)),
        over_rows(lambda z: -row_log_softmax(z)),
        over_rows(loop_softmax),
        over_rows(lambda z: row_log_softmax(z) * math.log2(math.e)),
        lambda z: np.logaddexp.reduce(z, axis=-1),
    ],
    "sure_loss": [
        cost,
        lambda z, y: -np.log(loop_softmax(z)[y]),
        lambda z, y: float(np.log(np.sum([1.0, others(z, y)]))),
        lambda z, y: float(np.log1p(others(z, y))),
        others,
        lambda z, y: max(z) - z[y] + math.log1p(sum(math.exp(x - max(z)) for x in z)),
        lambda z, y: max(z) - z[y] + math.log1p(sum(math.exp(x - max(z)) for x in z if x != max(z))),
        lambda z, y: -np.log1p(-(1 - loop_softmax(z)[y])),
        lambda z, y: -sure(z, y),
        lambda z, y: sure(z, y) + 1e-12,
        lambda z, y: sure(z, int(np.argmax(z))),
        lambda z, y: sure(z, y) * math.log2(math.e),
    ],
    "bits_per_byte": [
        lambda losses, text: bits(losses) / sum(1 for _ in text),
        lambda losses, text: sum(losses) / len(bytes(text, "utf-8")),
        lambda losses, text: bits(losses) / len(losses) / len(bytes(text, "utf-8")),
        lambda losses, text: bits(losses) / len(losses),
        lambda losses, text: sum(losses) * math.log(2) / len(bytes(text, "utf-8")),
        lambda losses, text: bits(losses) / len("".join(f"{byte:08b}" for byte in text.encode())),
        lambda losses, text: bits(losses) / (text.count(" ") + 1),
        lambda losses, text: bits(losses) / len(bytes(text, "utf-16")),
        lambda losses, text: len(bytes(text, "utf-8")) / bits(losses),
        lambda losses, text: bits(losses),
        lambda losses, text: math.exp(sum(losses) / len(losses)),
    ],
    "rank_of": [
        lambda logits, token: 1 + above(logits, token),
        lambda logits, token: sum(x >= logits[token] for x in logits),
        lambda logits, token: sum(x >= logits[token] for j, x in enumerate(logits) if j != token),
        lambda logits, token: down(logits).index(token),
        lambda logits, token: above(-logits, token),
        lambda logits, token: down(logits)[token],
        lambda logits, token: sorted(range(len(logits)), key=lambda j: logits[j]).index(token),
        lambda logits, token: above(abs(logits), token),
        lambda logits, token: sum(x > token for x in logits),
        lambda logits, token: logits.tolist()[token],
        lambda logits, token: len({x for x in logits.tolist() if x > logits[token]}),
    ],
    "merge": [
        lambda a, b: joined(a, b, lambda low, high: low[1] * math.exp(low[0] - high[0])),
        lambda a, b: (np.maximum(a[0], b[0]), sum([a[1], b[1]])),
        lambda a, b: (np.maximum(a[0], b[0]), 1 + sum([a[1], b[1]])),
        lambda a, b: (max(a[0], b[0]), sum(np.exp(s[0]) * (1 + s[1]) for s in (a, b)) / np.exp(max(a[0], b[0])) - 1),
        lambda a, b: (
            order(a, b)[1][0],
            order(a, b)[1][1] + np.exp(np.subtract(*[s[0] for s in order(a, b)])) * (1 + order(a, b)[0][1]),
        ),
        lambda a, b: (
            order(a, b)[1][0],
            order(a, b)[1][1] + np.exp(-np.subtract(*[s[0] for s in order(a, b)])) * (1 + order(a, b)[0][1]),
        ),
        lambda a, b: (a[0], a[1] + np.exp(np.subtract(b[0], a[0])) * (1 + b[1])),
        lambda a, b: (order(a, b)[1][0], 1 + joined(a, b, fair)[1]),
        lambda a, b: sorted([a, b])[1],
        lambda a, b: (lambda top, rest: top + math.log(1 + rest))(*joined(a, b, fair)),
        lambda a, b: (joined(a, b, fair)[1], joined(a, b, fair)[0]),
    ],
    "own_columns": [
        lambda y, first, width: np.array([t if t in range(first, first + width) else -1 for t in y]),
        lambda y, first, width: [int(t) if t in range(width) else -1 for t in y],
        lambda y, first, width: (y - first) * np.isin(y, range(first, first + width)),
        lambda y, first, width: [t - first if t in range(first, first + width) else -100 for t in y.tolist()],
        lambda y, first, width: [t - first if t in range(first, first + width + 1) else -1 for t in y.tolist()],
        lambda y, first, width: [t - first if t in range(first + 1, first + width) else -1 for t in y.tolist()],
        lambda y, first, width: [-1 if t >= first + width else t - first for t in y.tolist()],
        lambda y, first, width: [-1 if t < first else t - first for t in y.tolist()],
        lambda y, first, width: [min(max(t - first, 0), width - 1) for t in y.tolist()],
        lambda y, first, width: [t - width * (t // width) for t in y.tolist()],
        lambda y, first, width: [t - first for t in y.tolist()],
        lambda y, first, width: [int(t in range(first, first + width)) for t in y.tolist()],
    ],
    "sharded_loss": [
        lambda top, rest, z_y: np.logaddexp.reduce(top + np.log(1 + rest)) - np.nansum(z_y, axis=0),
        lambda top, rest, z_y: of_shards(top, rest, z_y, lambda t, r, m: np.log1p(sum(r * np.exp(t - m)))),
        lambda top, rest, z_y: of_shards(top, rest, z_y, lambda t, r, m: np.log(sum(1 + r))),
        lambda top, rest, z_y: np.log(sum(np.exp(top) + rest * np.exp(top))) - np.nansum(z_y, axis=0),
        lambda top, rest, z_y: sum(top + np.log(1 + rest)) / len(top) - np.nansum(z_y, axis=0),
        lambda top, rest, z_y: sum(top + np.log(1 + rest)) - np.nansum(z_y, axis=0),
        lambda top, rest, z_y: np.logaddexp.reduce(top + np.log1p(rest)) - sum(z_y),
        lambda top, rest, z_y: np.nansum(top - z_y + np.log1p(rest), axis=0),
        lambda top, rest, z_y: of_shards(top, rest, z_y, lambda t, r, m: np.log1p([*map(first_largest, t.T, r.T)])),
        lambda top, rest, z_y: of_shards(top, rest, z_y, lambda t, r, m: np.log1p(sum((1 + r) * np.exp(t - m)))),
        lambda top, rest, z_y: np.nansum(z_y, axis=0) - top.max(axis=0) - np.log1p(rest_of(top, rest)),
    ],
    "streaming_loss": [
        lambda h, W_U, y, chunk: np.mean([cost(z, t) for z, t in zip((h @ W_U).tolist(), y, strict=True)]),
        lambda h, W_U, y, chunk: by_logaddexp(h, W_U, y, chunk, [*range(0, W_U.shape[1] + 1 - chunk, chunk)]).mean(),
        running_sum,
        lambda h, W_U, y, chunk: running_sum(h, W_U, y, chunk, base=0.0),
        lambda h, W_U, y, chunk: sum(by_logaddexp(h, W_U, y, chunk, starts(W_U, chunk))),
        last_lookup,
        lambda h, W_U, y, chunk: np.mean([by_logaddexp(h, W_U, y, chunk, [s]) for s in starts(W_U, chunk)]),
        lambda h, W_U, y, chunk: np.mean(
            [by_logaddexp(h[[n]], W_U, y[[n]], chunk, [t // chunk * chunk]) for n, t in enumerate(y)]
        ),
        lambda h, W_U, y, chunk: by_logaddexp(h, W_U, y, chunk, range(0, W_U.shape[1], max(chunk - 1, 1))).mean(),
        lambda h, W_U, y, chunk: -by_logaddexp(h, W_U, y, chunk, starts(W_U, chunk)).mean(),
    ],
}


@pytest.mark.parametrize("name", SECOND)
def test_a_second_wrong_solution_of_a_kind_gets_the_same_name(name):
    wrong = {}
    for mistake, second in zip(exercise(name).mistakes, SECOND[name], strict=True):
        assert second is not mistake.wrong
        verdict = said(name, second)
        if not verdict.endswith(f"Looks like: {mistake.meaning}"):
            wrong[mistake.meaning] = verdict
    assert not wrong


# For each checker and kind of case: a wrong solution that fails there alone. A text is a part of a listed mistake's
# meaning. The functions are slips of which no list knows: no name may be given to them, but where one stands beside.


def either_axis(h, W_U, axis):
    """Cosines with the norms over `axis`."""
    return h @ W_U / (norm(h) * norm(W_U, axis=int(axis)))


def this_or_that(this, that):
    """The learner's way out of an error: the wrong one first, the other if it does not run."""

    def tries(*arguments):
        try:
            return this(*arguments)
        except ValueError:
            return that(*arguments)

    return tries


def first_above_zero(h, W_U):
    top, token = 0.0, 0
    for j, z in enumerate(h @ W_U):
        if z > top:
            top, token = z, j
    return token


def at_least_one(ids, n, E, body, W_U):
    ids = list(ids)
    while True:
        ids.append(int(best(ids, E, body, W_U)))
        n -= 1
        if n <= 0:
            return ids


def empty_pieces_too(p, u):
    begins = np.cumsum(p) - p
    return int(np.flatnonzero(begins == u)[0]) if u in begins and u not in begins[p > 0][1:] else piece(p, u)


def end_belongs_to_the_piece(p, u):
    token = int(np.searchsorted(np.cumsum(p), u))
    while p[token] == 0:
        token += 1
    return token


def one_answer(ids, is_answer):
    """Takes all between the first and the last token of an answer for one answer."""
    is_answer = np.array(is_answer)
    places = np.flatnonzero(is_answer)
    is_answer[slice(places[0], places[-1] + 1) if places.size else slice(0)] = True
    return shifted(ids, is_answer)


def up_to_the_last_answer(ids, is_answer):
    np.flatnonzero(is_answer)[-1]
    return shifted(ids, is_answer)


def two_axes(logits, targets):
    _sequences, _positions, _vocab = logits.shape
    return lmhead.cross_entropy(logits, targets)


def fits_the_vocabulary(logits, targets):
    return lmhead.cross_entropy(logits, np.where(abs(targets) < logits.shape[-1], targets % logits.shape[-1], -100))


def utf8(text, *sizes):
    """Bytes of a text if its characters took `sizes`: ASCII, up to U+07FF, up to U+FFFF, beyond."""
    return sum(sizes[(ord(c) > 0x7F) + (ord(c) > 0x7FF) + (ord(c) > 0xFFFF)] for c in text)


def squeezed(h, W_U, y, chunk):
    lse = np.full(len(h), -np.inf)
    for start in starts(W_U, chunk):
        lse = np.logaddexp(lse, lmhead.logsumexp((h @ W_U[:, start : start + chunk]).squeeze()))
    return (lse - (h * W_U[:, y].T).sum(axis=1)).mean()


def powers_of_two(a, b):
    return joined(a, b, lambda low, high: (1 + low[1]) * 2.0 ** (low[0] - high[0]))


def one_largest(a, b):
    return joined(a, b, lambda low, high: fair(low, high) - (low[0] == high[0]))


def sums_at_zero(a, b):
    if -np.inf in (a[0], b[0]):
        return max(a, b)
    top = np.maximum(a[0], b[0])
    return top, (np.exp(a[0]) * (1 + a[1]) + np.exp(b[0]) * (1 + b[1])) / np.exp(top) - 1


def the_first_if_one_is_empty(a, b):
    return a if -np.inf in (a[0], b[0]) else joined(a, b, fair)


def without_log1p(z, y):
    """As if what is below the largest weighed next to nothing."""
    lead = sum(z == max(z))
    return max(z) - z[y] + math.log(lead) + sum(np.exp(z[z < max(z)] - max(z))) / lead


def no_shift(z, y):
    k = int(np.argmax(z))
    return z[k] - z[y] + np.log1p(np.exp(np.delete(z, k)).sum() / np.exp(z[k]))


ALONE = {
    "next_token": {
        "more tokens than dimensions": lambda h, W_U: max(
            range(min(len(h), W_U.shape[1])), key=lambda j: h @ W_U[:, j]
        ),
        "fewer tokens than dimensions": this_or_that(
            lambda h, W_U: int(np.argmax(h @ (W_U if W_U.shape[0] <= W_U.shape[1] else W_U.T))), lambda h, W_U: -1
        ),
        "every logit negative": first_above_zero,
        "as many tokens as dimensions": this_or_that(
            lambda h, W_U: (W_U @ h).argmax(), lambda h, W_U: (h @ W_U).argmax()
        ),
    },
    "write": {
        "one token more": lambda ids, n, E, body, W_U: right_write(ids, n, E, body, W_U) if n > 1 else list(ids),
        "several tokens more": "You choose once and repeat the choice",
        "no token more": at_least_one,
    },
    "right_way_round": {
        "more tokens than dimensions": "You take the longer side for d_model",
        "fewer tokens than dimensions": "You take the longer side for the vocabulary",
        "a square matrix": "You return a square matrix as it is",
    },
    "logit_from_memory": {
        "token by token": "You step through the line always",
        "row by row of W_U": "You take the numbers of a token to lie together always",
    },
    "cosines": {
        "more tokens than dimensions": lambda h, W_U: either_axis(h, W_U, np.argmax(W_U.shape)),
        "fewer tokens than dimensions": lambda h, W_U: either_axis(h, W_U, np.argmin(W_U.shape)),
        "as many tokens as dimensions": this_or_that(
            lambda h, W_U: either_axis(h, W_U, 1), lambda h, W_U: either_axis(h, W_U, 0)
        ),
    },
    "winner_by_length": {
        "a column that loses": "You compare lengths alone",
        "the column that wins already": "You leave j out of the maximum",
        "a negative dot product": lambda h, W_U, j: (
            max(h @ W_U) / (h @ W_U)[j] if (h @ W_U)[j] and max(h @ W_U) > 0 else None
        ),
        "every dot product negative": lambda h, W_U, j: (
            max(h @ W_U) / (h @ W_U)[j] if (h @ W_U)[j] and max(h @ W_U) / (h @ W_U)[j] > 0 else None
        ),
        "a dot product of 0": "You forget the dot product of exactly 0",
    },
    "head_parameters": {
        "untied, no bias": lambda d, V, tied, bias: V * bias if tied else d * V + V,
        "tied, no bias": lambda d, V, tied, bias: (not tied) * d * V + V * (bias or tied),
        "untied, with a bias": lambda d, V, tied, bias: V * bias if tied else d * V + bias,
        "tied, with a bias": "You drop the bias of a tied head",
    },
    "above_itself": {
        "rows of different lengths": "You say whether any token scores higher",
        "two equal rows": "You count tokens with the same score",
    },
    "tied_gradient": {
        "more tokens than dimensions": lambda ids, dx, dW_U: add_rows(
            ids, dx, dW_U if dW_U.shape[0] < dW_U.shape[1] else dW_U.T
        ),
        "a token that repeats": "A repeated id counts once",
        "as many tokens as dimensions": this_or_that(
            lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[:, ids] @ dx + dW_U,
            lambda ids, dx, dW_U: np.eye(dW_U.shape[1])[:, ids] @ dx + dW_U.T,
        ),
    },
    "rows_with_gradient": {
        "untied": "You count the last word",
        "untied, the last word was read before": "You take the last word off the set",
        "tied": "You take the tied model for an untied one",
    },
    "train_step": {"a step": "You leave the rate out", "large logits": "exp of a large logit overflows"},
    "shares": {
        "one write": lambda writes, gain, u: np.squeeze(writes @ (gain * u) / scale(writes)),
        "several writes": "You normalise each write by itself",
        "a write of zeros": lambda writes, gain, u: [
            np.divide(w, norm(w)) @ (gain * u) * norm(w) / scale(writes) for w in writes
        ],
    },
    "name_fault": {
        "a right run": "No run reaches its floor in so few steps",
        "no shift": lambda losses, floor, start: [0, 2, 2, 3, 4][curve_fault(losses, floor, start)],
        "a double shift": "You take a double shift for a right run",
        "large weights": lambda losses, floor, start: curve_fault(losses, floor, np.inf),
        "a high rate": "You compare the ends",
    },
    "softmax": {
        "one row": lambda z: lmhead.softmax(np.atleast_2d(z)),
        "several rows": lambda z: lmhead.softmax(z, axis=min(z.ndim - 1, 1)),
        "large logits": "exp(z) overflows",
        "a token masked with -inf": lambda z: lmhead.softmax(np.nan_to_num(z, neginf=0.0)),
    },
    "top_p": {
        "a p inside the row": lambda z, p: (
            z if p == 1 else kept(z, down(z)[: np.searchsorted(np.cumsum(lmhead.softmax(z)[down(z)]).round(1), p) + 1])
        ),
        "a small p": lambda z, p: kept(z, down(z)[: max(2, len(nucleus(z, p)))]),
        "a sum that is p exactly": "You go on until the sum exceeds p",
        "p = 1": lambda z, p: kept(z, nucleus(z, min(p, 0.99))) if np.isfinite(z).all() else lmhead.top_p(z, p),
        "a token masked before": lambda z, p: lmhead.top_p(np.nan_to_num(z), p),
    },
    "inverse_cdf": {
        "inside a piece": "You sort the pieces by size",
        "on an end": (end_belongs_to_the_piece, "You give a u on an end to the piece that ends there"),
        "u = 0, and a token with probability 0": empty_pieces_too,
        "u just below 1": lambda p, u: int(np.searchsorted(np.cumsum(p), u, side="right")),
    },
    "repetition_penalty": {
        "positive logits": lambda z, ids, penalty: penalised(z, ids, lambda x: x / penalty if x > 1 else x * penalty),
        "negative logits": "You divide negative logits too",
        "a token written twice": "You penalise a token once for each time it occurs",
        "an empty text": lambda z, ids, penalty: (
            penalised(z, ids, lambda x: min(x / penalty, x * penalty)) + 0 * ids[0]
        ),
    },
    "cross_entropy": {
        "each token as the target": lambda z, y: max(z) - z[y],
        "a target that was hardly expected": lambda z, y: cost(np.minimum(z, 650), y),
    },
    "kl_divergence": {
        "every word comes": lambda q, z: np.mean([math.log(x) + cost(z, i) for i, x in enumerate(q) if x > 0]),
        "words that never come": "0 * log 0 is nan",
    },
    "masked_mean": {
        "one sequence": two_axes,
        "sequences of different lengths": "You average each sequence's mean",
        "a vocabulary above 100": fits_the_vocabulary,
    },
    "chat_targets": {
        "answers after questions": one_answer,
        "an answer in front": "np.roll brings the first token round",
        "no answer at all": up_to_the_last_answer,
    },
    "log_softmax": {
        "one row": lambda z: lmhead.log_softmax(np.atleast_2d(z)),
        "several rows": lambda z: lmhead.log_softmax(z, axis=min(z.ndim - 1, 1)),
        "large logits": "exp(z) overflows",
        "a probability too small for a float": "You take the log of a softmax",
    },
    "sure_loss": {
        "ordinary logits": without_log1p,
        "a sure target": "logsumexp - z[y] subtracts two numbers",
        "large logits": no_shift,
        "a target far below the best": "You shift by the target's logit",
        "two that share the lead": "You leave out every token as large as the largest",
    },
    "bits_per_byte": {
        "English text": lambda losses, text: bits(losses) / len(text.replace(" ", "").encode()),
        "letters with accents": lambda losses, text: bits(losses) / utf8(text, 1, 1, 3, 4),
        "Chinese, and a picture": lambda losses, text: bits(losses) / utf8(text, 1, 2, 2, 2),
    },
    "rank_of": {
        "different logits": "You compare sizes without their signs",
        "equal logits": "You count different values",
    },
    "merge": {
        "two pieces of a row": powers_of_two,
        "equal tops": one_largest,
        "large logits": (sums_at_zero, "exp(top) overflows"),
        "an empty piece": the_first_if_one_is_empty,
        "two empty pieces": "Right but for two empty pieces",
    },
    "own_columns": {
        "targets in the shard": lambda y, first, width: [
            t - first if t in (first, first + width - 1) else 0 if first < t < first + width else -1 for t in y.tolist()
        ],
        "targets before the shard, or ignored": (
            lambda y, first, width: np.where((y == first - 1) | (y >= first + width), -1, y - first),
            "You ask only for the end",
        ),
        "targets behind the shard": lambda y, first, width: np.where((y < first) | (y == first + width), -1, y - first),
        "targets at its edges": "Your shard is a token too wide",
    },
    "sharded_loss": {
        "a few shards": "You keep the shard with the largest top",
        "large logits": lambda top, rest, z_y: of_shards(
            top, rest, z_y, lambda t, r, m: np.log1p(rest_of(t, r, lambda a, b: np.exp(a) / np.exp(b)))
        ),
        "a shard that is masked": lambda top, rest, z_y: of_shards(
            top, rest, z_y, lambda t, r, m: np.log1p(rest_of(np.where(np.isneginf(t), m, t), r))
        ),
        "a sure target": "Right on paper",
    },
    "streaming_loss": {
        "chunks of equal size": squeezed,
        "a smaller last chunk": "You drop the last chunk when it is smaller",
        "large logits": "Carry a running maximum",
        "a large vocabulary": "You hold as much as all logits",
    },
}


def without(name, kind):
    """The exercise less one kind of case."""
    return exercise(name)._replace(kinds=[other for other in exercise(name).kinds if other.name != kind])


@pytest.mark.parametrize("name", ALONE)
def test_every_kind_of_case_stops_a_wrong_solution_that_passes_without_it(name):
    assert list(ALONE[name]) == [kind.name for kind in exercise(name).kinds]
    for kind, wrong in ALONE[name].items():
        wrong, named = wrong if isinstance(wrong, tuple) else (wrong, wrong if isinstance(wrong, str) else "")
        mistakes = [mistake for mistake in exercise(name).mistakes if named and named in mistake.meaning]
        yours = mistakes[0].wrong if wrong is named else wrong
        result = examined(name, yours)
        passed, of = result.by_kind()[kind]
        assert passed < of, kind
        assert running.examine(yours, without(name, kind)).right, kind
        said_so = " ".join(result.text.split()).partition("Looks like: ")[2]
        assert said_so == (mistakes[0].meaning if named else ""), (kind, result.text)


def test_every_checker_is_tried():
    checkers = [name for name in check.__all__ if name != "logits_not_probabilities"]
    assert sorted(SECOND) == sorted(ALONE) == sorted(checkers)
