"""How long the loss of a head takes, in units of its matrix product: `python speed.py THREADS ROUNDS`, JSON out.

Called by run.py, which fixes the number of threads before NumPy starts. All contenders take turns, and each ratio is to
the products just before and just after in the same round: what else the machine does then weighs on both.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from contenders import FORWARD, FORWARD_BACKWARD, Problem, Work, make_problem

SHAPES = {  # threads -> the sizes (N, d_model, vocab) of a forward pass
    1: [
        (256, 576, 49_152),
        (1024, 576, 49_152),
        (1024, 576, 128_256),
        (256, 2048, 49_152),
        (1024, 2048, 49_152),
        (1024, 2048, 128_256),
    ],
    2: [(1024, 576, 49_152), (1024, 2048, 49_152)],
}
BACKWARD_SHAPES = {
    1: [(256, 576, 49_152), (1024, 576, 49_152), (256, 2048, 49_152), (1024, 2048, 49_152)],
    2: [(256, 576, 49_152), (1024, 576, 49_152), (256, 2048, 49_152), (1024, 2048, 49_152)],
}
SLOW = "torch linear_cross_entropy, defaults"  # up to 20 times the products: once, at the smallest size only


def race(problem: Problem, contenders: dict[str, Callable[[Problem], Work]], rounds: int) -> dict[str, Any]:
    """Seconds of the unit (the first contender), and each other's ratio to it, round by round."""
    unit, *others = contenders
    small = make_problem(64, problem.h.shape[1], 2048)
    for prepare in contenders.values():
        prepare(small)()  # libraries are loaded and warm
    work = {name: prepare(problem) for name, prepare in contenders.items()}
    seconds, ratios = [], {name: [] for name in others}
    for turn in range(rounds):
        for name in others:
            if name == SLOW and turn:
                continue
            keep_memory_at_hand(problem)
            before, took, after = timed(work[unit]), timed(work[name]), timed(work[unit])
            ratios[name].append(took / (0.5 * (before + after)))
            seconds += [before, after]
    return {"unit": unit, "seconds": statistics.median(seconds), "ratios": ratios}


def keep_memory_at_hand(problem: Problem) -> None:
    """Touch and give back more memory than any contender takes.

    A virtual machine gives memory that was idle for seconds back to its host, and getting it anew costs more than the
    work itself; without this, whoever asks first pays.
    """
    logits = len(problem.h) * len(problem.E)
    np.ones(4 * logits + 2 * problem.E.size, np.float32)


def timed(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(threads: int, rounds: int) -> None:
    results = []
    for kind, shapes, contenders in (
        ("forward", SHAPES, FORWARD),
        ("forward and backward", BACKWARD_SHAPES, FORWARD_BACKWARD),
    ):
        for shape in shapes[threads]:
            chosen = dict(contenders)
            if shape != (256, 576, 49_152):
                chosen.pop(SLOW, None)
            result = race(make_problem(*shape), chosen, rounds)
            results.append({"kind": kind, "threads": threads, "shape": shape, **result})
            print(f"{kind} {shape}, {threads} threads: done", file=sys.stderr, flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
