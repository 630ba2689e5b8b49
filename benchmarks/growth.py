"""How the time of the streaming loss and gradients grows with N, d_model and vocab: `growth.py ROUNDS`, JSON out."""

from __future__ import annotations

import json
import sys

from contenders import make_problem, streaming, streaming_grads
from speed import timed

BASE = {"N": 512, "d": 512, "V": 32_768}
SWEEPS = {
    "N": (128, 256, 512, 1024, 2048),
    "d": (128, 256, 512, 1024, 2048),
    "V": (8_192, 16_384, 32_768, 65_536, 131_072),
}


def main(rounds: int) -> None:
    points = []
    for name, sizes in SWEEPS.items():
        problems = {size: make_problem(*{**BASE, name: size}.values()) for size in sizes}
        for kind, prepare in (("forward", streaming), ("forward and backward", streaming_grads)):
            work = {size: prepare(problem) for size, problem in problems.items()}
            times: dict[int, list[float]] = {size: [] for size in sizes}
            for _ in range(rounds):
                for size in sizes:
                    times[size].append(timed(work[size]))
            points += [
                {"kind": kind, "sweep": name, "size": size, "seconds": min(took)} for size, took in times.items()
            ]
        print(f"growth with {name}: done", file=sys.stderr, flush=True)
    print(json.dumps(points))


if __name__ == "__main__":
    main(int(sys.argv[1]))
