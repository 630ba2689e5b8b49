"""The peak of memory that one loss takes, by the operating system's own count: `python memory.py NAME N D V`, JSON out.

Called by run.py in a fresh process for each measurement. Counted are the pages of memory in use at most during the
call, less those before it; the inputs, the libraries and BLAS's own buffers are there before.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from contenders import FORWARD, FORWARD_BACKWARD, make_problem

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def status(field: str) -> int:
    """Bytes, as Linux reports them."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def peak_beyond_now(work: object) -> int:
    if CLEAR.exists():
        CLEAR.write_text("5")  # the high-water mark starts again from here
        before = status("VmRSS")
        work()
        return status("VmHWM") - before
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    return 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def main(kind: str, name: str, shape: tuple[int, int, int]) -> None:
    prepare = (FORWARD if kind == "forward" else FORWARD_BACKWARD)[name]
    prepare(make_problem(64, shape[1], 2048))()  # libraries are loaded and warm, BLAS has its buffers
    problem = make_problem(*shape)
    work = prepare(problem)
    peak = peak_beyond_now(work)
    gradients = 0 if kind == "forward" else problem.h.nbytes + problem.E.nbytes
    print(json.dumps({"kind": kind, "name": name, "shape": shape, "peak": peak - gradients}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], tuple(map(int, sys.argv[3:6])))
