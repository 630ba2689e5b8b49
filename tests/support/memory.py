"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak_of(function: Callable[[], object]) -> int:
    """The memory in bytes that a call asks for, beyond what there was before; results included.

    The least of three: the first calls of a process also pay for what they alone bring into memory (.06 to 1 MB here).
    """
    tracemalloc.start()
    try:
        peaks = []
        for _ in range(3):
            tracemalloc.clear_traces()
            function()
            peaks.append(tracemalloc.get_traced_memory()[1])
        return min(peaks)
    finally:
        tracemalloc.stop()
