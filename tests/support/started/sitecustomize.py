"""Python reads this as it starts, in every process that a test starts: one that writes elsewhere ends with an error."""

import os
import sys
from typing import Any

from write_guard import forbidden

TEMPORARY = os.environ.get("LMHEAD_TESTS_TEMPORARY", "")  # set while a test runs; the tests' own workers start before
PIP = os.environ.get("PIP_CACHE_DIR", "")


class WritesElsewhere(BaseException):
    """No `Exception`, which the program might answer."""


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    for path in forbidden(event, arguments, TEMPORARY):
        if not (PIP and path.startswith(PIP)):  # what pip has downloaded is kept between runs
            raise WritesElsewhere(f"what a test starts writes into temporary folders only, not to {path}")


if TEMPORARY:
    sys.addaudithook(_guard)
