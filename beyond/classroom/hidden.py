"""Cases of the exercises that no public file shows: drawn from a teacher's seed, written as literals in plain NumPy.

An exercise that is not listed here gets the cases of its checker, as far as they can be written as literals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from lmhead.check.run import RTOL, Exercise, cases_of
from lmhead.check.training import _curve

Case = tuple[Any, ...]  # the arguments of one call


class Code(NamedTuple):
    """An argument that is a function, by its source."""

    source: str

    def __call__(self, *arguments: Any) -> Any:
        """What the function gives."""
        return eval(self.source, {"np": np})(*arguments)


def draw(rng: Generator, *shape: int) -> np.ndarray:
    """Normal numbers with two decimals."""
    return rng.normal(scale=2.0, size=shape).round(2) + 0.0


def hidden_cases(name: str, exercise: Exercise, seed: int) -> list[Case]:
    """The arguments of each hidden case of an exercise; the same seed gives the same."""
    if name in DRAWN:
        return list(DRAWN[name](np.random.default_rng([seed, *name.encode()])))
    public = [tuple(case.arguments.values()) for case in cases_of(exercise)]
    return [case for case in public if is_literal(case)]


def source_of(name: str, exercise: Exercise, seed: int) -> str:
    """A function `share(yours)` as source text: the share of the hidden cases that `yours` gets right."""
    cases = [(case, exercise.right(*case)) for case in hidden_cases(name, exercise, seed)]
    if not cases:
        raise ValueError(f"check.{name} has no case that can be written as literals: draw some in {__file__}")
    lines = "\n".join(f"        ({literal(case)}, {literal(expected)})," for case, expected in cases)
    return SHARE.format(lines=lines, rtol=RTOL, atol=exercise.atol)


SHARE = """def share(yours):
    import numpy as np
    cases = [
{lines}
    ]
    passed = 0
    for given, expected in cases:
        try:
            with np.errstate(all="ignore"):
                got = yours(*given)
                if expected is None or got is None:
                    passed += got is expected
                else:
                    got, expected = np.asarray(got), np.asarray(expected)
                    near = np.abs(got - expected) <= {atol} + {rtol} * np.abs(expected)
                    passed += got.shape == expected.shape and bool(np.all(near | (got == expected)))
        except Exception:
            pass
    return passed / len(cases)"""


def is_literal(value: Any) -> bool:
    """Whether `literal` can write it."""
    try:
        literal(value)
    except TypeError:
        return False
    return True


def literal(value: Any) -> str:
    """A value as Python source, in which `np` is NumPy."""
    if isinstance(value, Code):
        return f"({value.source})"
    if isinstance(value, np.ndarray):
        return f"np.array({literal(value.tolist())})"
    if isinstance(value, np.generic):
        return literal(value.item())
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(literal(each) + ', ' for each in value)})"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    raise TypeError(f"no literal for {value!r}")


# ---- how the cases of each exercise are drawn: valid input, and several of the kinds that its checker has


def next_token(rng: Generator) -> list[Case]:
    return [(draw(rng, d), draw(rng, d, V)) for d, V in ((2, 5), (4, 3), (3, 3))]


def write(rng: Generator) -> list[Case]:
    body = Code("lambda x: np.cumsum(np.tanh(x), axis=0)[:, ::-1]")
    return [
        (rng.integers(0, 6, T).tolist(), n, draw(rng, 6, 4), body, draw(rng, 4, 6)) for T, n in ((3, 1), (2, 3), (1, 2))
    ]


def right_way_round(rng: Generator) -> list[Case]:
    return [(draw(rng, 2, 4), 2), (draw(rng, 5, 3), 3), (draw(rng, 4, 2), 4), (draw(rng, 3, 3), 3)]


def logit_from_memory(rng: Generator) -> list[Case]:
    sizes = ((2, 5, True), (3, 4, True), (2, 5, False), (4, 3, False))
    return [(draw(rng, d * V), draw(rng, d), int(rng.integers(V)), together) for d, V, together in sizes]


def cosines(rng: Generator) -> list[Case]:
    return [(draw(rng, d), draw(rng, d, V)) for d, V in ((2, 4), (4, 2), (3, 3))]


def winner_by_length(rng: Generator) -> list[Case]:
    h, W_U = np.array([2.0, 1.0]), draw(rng, 2, 4)
    W_U[:, 0], W_U[:, 1] = np.abs(W_U[:, 0]) + 3.0, np.abs(W_U[:, 1]) / 8 + 0.5  # one wins, one loses ...
    W_U[:, 2] = -np.abs(W_U[:, 2]) - 0.5  # ... and one points away
    return [(h, W_U.round(2), j) for j in range(3)]


def head_parameters(rng: Generator) -> list[Case]:
    sizes = rng.integers(3, 700, (4, 2)).tolist()
    return [
        (d, V, tied, bias)
        for (d, V), tied, bias in zip(sizes, (0, 1, 0, 1), (0, 0, 1, 1), strict=True)
        for tied, bias in [(bool(tied), bool(bias))]
    ]


def above_itself(rng: Generator) -> list[Case]:
    return [(draw(rng, V, d).round(),) for V, d in ((5, 2), (4, 3), (6, 3))]


def softmax(rng: Generator) -> list[Case]:
    return [(draw(rng, 4),), (draw(rng, 2, 3),), (draw(rng, 2, 2, 3),), (draw(rng, 3, 3) + 1000.0,)]


def inverse_cdf(rng: Generator) -> list[Case]:
    p = rng.multinomial(96, [0.25] * 4, size=4) + 1.0  # hundredths: a u that ends in 5 is inside a piece
    drawn = [(row / 100, (int(rng.integers(998)) + 0.5) / 1000) for row in p]
    return [*drawn, (np.array([0.0, 0.25, 0.75]), 0.0), (np.array([0.25, 0.25, 0.5]), 0.25)]


def cross_entropy(rng: Generator) -> list[Case]:
    return [(draw(rng, V), int(rng.integers(V))) for V in (3, 4, 5, 7)]


def kl_divergence(rng: Generator) -> list[Case]:
    q = rng.multinomial(18, [0.25] * 4, size=2) + 0.5
    seen = np.array([0.25, 0.0, 0.5, 0.25])
    return [*((row / row.sum(), draw(rng, 4)) for row in q), (rng.permutation(seen), draw(rng, 4))]


def masked_mean(rng: Generator) -> list[Case]:
    whole, some, texts = rng.integers(0, 3, 4), rng.integers(0, 3, 5), rng.integers(0, 3, (2, 3))
    some[rng.permutation(5)[:2]] = texts[0, rng.integers(3)] = -100
    return [(draw(rng, *y.shape, 3), y) for y in (whole, some, texts)]


def chat_targets(rng: Generator) -> list[Case]:
    return [(rng.integers(1, 50, T), rng.random(T) < share) for T, share in ((6, 0.5), (7, 0.3), (5, 0.7), (4, 1.1))]


def sure_loss(rng: Generator) -> list[Case]:
    sure, others = float(rng.integers(38, 60)), draw(rng, 4).clip(-3, 3)
    far = np.insert(others, 2, sure)
    return [(far, 2), (far, 0), (others, 1), (far - 900.0, 2), (np.append(others, [900.0]), 3)]


def train_step(rng: Generator) -> list[Case]:
    return [
        (draw(rng, V, V) + add, rng.integers(1, 7, (V, V)) + 0.0, rate)
        for V, add, rate in ((3, 0, 0.5), (4, 0, 2.0), (3, 900, 1.0))
    ]


def name_fault(rng: Generator) -> list[Case]:
    def clear(fault: int, losses: np.ndarray, floor: float, start: float) -> bool:
        """Whether no threshold that one may choose could name it otherwise."""
        end, rises, starts = losses[-1] - floor, np.diff(losses).max(), losses[0] - start
        smooth = rises < 1e-4 and abs(starts) < 0.05
        return (
            smooth and -0.001 < end < 0.1,
            smooth and end < -0.05,
            smooth and end > 0.2,
            starts > 0.5,
            starts < 0.05 and rises > 0.05,
        )[fault]

    cases = []
    for fault in range(5):
        while not clear(fault, *(curve := _curve(int(rng.integers(1 << 30)), fault, int(rng.integers(10, 22))))):
            pass
        losses, floor, start = curve
        cases.append((losses.round(4), round(floor, 4), round(start, 4)))
    return cases


def rows_with_gradient(rng: Generator) -> list[Case]:
    return [
        (rng.integers(0, V, T), V, tied) for T, V, tied in ((5, 8, False), (4, 5, False), (6, 4, False), (4, 9, True))
    ]


def tied_gradient(rng: Generator) -> list[Case]:
    sizes = ((2, 5, 3), (4, 3, 2), (5, 3, 4))
    return [(rng.integers(0, V, T), draw(rng, T, d), draw(rng, d, V)) for T, V, d in sizes]


def top_p(rng: Generator) -> list[Case]:
    cases: list[Case] = []
    while len(cases) < 4:
        z, p = draw(rng, 5), float(rng.choice([0.5, 0.8, 0.9]))
        ranked = np.sort(np.exp(z) / np.exp(z).sum())[::-1]
        if np.abs(ranked.cumsum() - p).min() > 0.01 and np.diff(np.sort(z)).min() > 0.1:
            cases.append((z, p))
    return cases


def repetition_penalty(rng: Generator) -> list[Case]:
    return [
        (draw(rng, V), rng.integers(0, V, T), penalty) for V, T, penalty in ((5, 2, 1.5), (6, 4, 2.0), (4, 6, 1.25))
    ]


def bits_per_byte(rng: Generator) -> list[Case]:
    words = ["a tree", "the river", "déjà vu", "Füße", "水", "🐕 barks"]
    chosen = rng.permutation(words)
    return [(np.abs(draw(rng, 3)) + 0.25, " ".join(pair)) for pair in (chosen[:2], chosen[2:4], chosen[4:])]


def shares(rng: Generator) -> list[Case]:
    return [(draw(rng, n, d), np.abs(draw(rng, d)) + 0.5, draw(rng, d)) for n, d in ((2, 3), (4, 3), (3, 2))]


def merge(rng: Generator) -> list[Case]:
    def state() -> tuple[float, float]:
        return float(draw(rng, 1)[0]), float(rng.random().__round__(3))

    empty = (-np.inf, 0.0)
    (low, rest), other = state(), state()
    return [
        (state(), state()),
        (state(), state()),
        ((low, rest), (low, 0.5)),
        ((low - 900, rest), other),
        (empty, other),
    ]


def streaming_loss(rng: Generator) -> list[Case]:
    sizes = ((2, 2, 6, 3), (3, 2, 7, 2), (2, 3, 4, 9))
    return [(draw(rng, N, d), draw(rng, d, V), rng.integers(0, V, N), chunk) for N, d, V, chunk in sizes]


def own_columns(rng: Generator) -> list[Case]:
    y = rng.integers(0, 12, (3, 7))
    y[1, :2] = -100
    return [(row, first, width) for row, first, width in zip(y, (0, 4, 9), (4, 5, 3), strict=True)]


def sharded_loss(rng: Generator) -> list[Case]:
    def sent(z: np.ndarray, y: np.ndarray, cuts: list[int]) -> Case:
        """What the shards of these logits send: the top, the sum of the others in its units, the target's logit."""
        rows, shards = np.arange(len(y)), np.split(z, cuts, axis=1)
        top = np.stack([shard.max(axis=1) for shard in shards])
        rest = np.stack(
            [np.exp(np.sort(shard, axis=1)[:, :-1] - shard.max(axis=1, keepdims=True)).sum(axis=1) for shard in shards]
        )
        holds = np.searchsorted(cuts, y, side="right") == np.arange(len(shards))[:, None]
        return top, rest, np.where(holds, z[rows, y], np.nan)

    y = rng.integers(0, 6, 4)
    z, far = draw(rng, 4, 6), draw(rng, 4, 6)
    sure = far + 50.0 * (np.arange(6) == y[:, None])
    return [sent(z, y, [2]), sent(far, y, [1, 4]), sent(sure, y, [3]), sent(far + 900.0, y, [2, 4])]


DRAWN: Mapping[str, Callable[[Generator], list[Case]]] = {
    function.__name__: function
    for function in (
        above_itself, bits_per_byte, chat_targets, cosines, cross_entropy, head_parameters, inverse_cdf, kl_divergence,
        logit_from_memory, masked_mean, merge, name_fault, next_token, own_columns, repetition_penalty, right_way_round,
        rows_with_gradient, sharded_loss, shares, softmax, streaming_loss, sure_loss, tied_gradient, top_p, train_step,
        winner_by_length, write,
    )
} | {"log_softmax": softmax}  # fmt: skip
