"""What tests, and the programs that they start, must not do: write outside temporary folders, or among the sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

# audit event -> which of its arguments are paths that change, and where each one's folder stands, if it has one
CHANGES: dict[str, dict[int, int | None]] = {
    "os.mkdir": {0: 2},
    "os.remove": {0: 1},
    "os.rmdir": {0: 1},
    "os.rename": {0: 2, 1: 3},
    "os.link": {1: 3},
    "os.symlink": {1: 2},
    "os.truncate": {0: None},
    "os.chmod": {0: 2},
    "os.utime": {0: 3},
    "shutil.rmtree": {0: 1},
}
OF_TOOLS = (
    "__pycache__",
    ".hypothesis",
    ".pytest_cache",
    ".coverage",
    ".mypy_cache",
    ".ruff_cache",
)  # among the sources
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ROOT = os.path.realpath(os.path.join(__file__, "../../../.."))


def forbidden(event: str, arguments: tuple[Any, ...], temporary: str) -> Iterator[str]:
    """The paths that an event changes and must not."""
    if event == "open":
        changing: dict[int, int | None] = {0: None} if isinstance(arguments[2], int) and arguments[2] & WRITES else {}
    else:
        changing = CHANGES.get(event, {})
    for which, folder_at in changing.items():
        path = arguments[which]
        if isinstance(path, int):
            continue  # a file that is open already
        path = os.fsdecode(path)
        if folder_at is not None and isinstance(arguments[folder_at], int) and arguments[folder_at] >= 0:
            path = os.path.join(f"/proc/self/fd/{arguments[folder_at]}", path)
        if not may_change(path, temporary):
            yield path


def may_change(path: str, temporary: str) -> bool:
    """Whether it lies in the temporary folder, were that not the one that holds the project."""
    real = os.path.realpath(path)
    if any(part.startswith(OF_TOOLS) for part in real.split(os.sep)) or real.startswith("/dev/"):
        return True
    return _within(real, os.path.realpath(temporary)) and not _within(real, ROOT)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
