"""One temporary folder for a whole run of the tests, shared by its workers; nothing is written outside such folders.

`HOME` and the caches lie in that folder, for this process and for all that it starts. In this process, a test that
writes anywhere but into the temporary folder of the system gets an error (`_guard`).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from platformdirs import user_cache_path

from tools.chapters import ROOT

folder: Path  # set by `begin`
_marks: set[str] | None = None  # of the test that runs now


def begin(shared: str | None) -> None:
    """Take the folder that another process of this run has made, or make it."""
    global folder
    folder = Path(shared or tempfile.mkdtemp(prefix="lmhead-tests-"))
    if shared is None:
        _move_home()
    sys.addaudithook(_guard)


def end() -> None:
    """Take the folder away."""
    shutil.rmtree(folder, ignore_errors=True)


def made_once(name: str, make: Callable[[Path], Path]) -> Path:
    """What `make(folder)` returns, called by the first worker that asks; the others wait."""
    note, place = folder / f"{name}.path", folder / name
    with FileLock(folder / f"{name}.lock"):
        if not note.exists():
            shutil.rmtree(place, ignore_errors=True)  # of a worker that failed
            place.mkdir()
            note.write_text(str(make(place)), encoding="utf-8")
    return Path(note.read_text(encoding="utf-8"))


def _move_home() -> None:
    """An empty home. What is fetched stays readable: its files are linked, its folders are new ones."""
    fetched, home = Path(os.environ.get("LMHEAD_CACHE") or user_cache_path("lmhead")), Path.home()
    cache = folder / "cache"
    cache.mkdir()
    for file in sorted(fetched.rglob("*")):
        here = cache / file.relative_to(fetched)
        if file.is_dir():
            here.mkdir()
        elif file.suffix != ".lock":
            os.symlink(file, here)
    settings = {  # of programs that the tests start; their downloads and settings are not ours
        "PIP_CACHE_DIR": user_cache_path("pip"),
        "PIP_CONFIG_FILE": next((f for f in (home / ".config/pip/pip.conf", home / ".pip/pip.conf") if f.exists()), ""),
        "GIT_CONFIG_GLOBAL": home / ".gitconfig",
        "PLAYWRIGHT_BROWSERS_PATH": user_cache_path("ms-playwright"),
    }
    for name, value in settings.items():
        if str(value) and Path(value).exists():
            os.environ.setdefault(name, str(value))
    fonts = folder / "matplotlib"  # to list all fonts of a system takes longer than most tests
    fonts.mkdir()
    for listed in user_cache_path("matplotlib").glob("fontlist-*.json"):
        shutil.copyfile(listed, fonts / listed.name)
    (folder / "home").mkdir()
    os.environ |= {
        "LMHEAD_CACHE": str(cache),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "home/.cache"),
        "XDG_CONFIG_HOME": str(folder / "home/.config"),
        "XDG_DATA_HOME": str(folder / "home/.local/share"),
        "MPLCONFIGDIR": str(fonts),
    }


# ---- the guard

# event -> which of its arguments are paths that change, and where each one's folder stands, if it has one
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
OF_TOOLS = ("__pycache__", ".hypothesis", ".pytest_cache", ".coverage")  # what may appear beside the sources
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@contextmanager
def guarded(marks: set[str]) -> Iterator[None]:
    """Inside, a test with these marks runs: what writes elsewhere is refused."""
    global _marks
    _marks = marks
    try:
        yield
    finally:
        _marks = None


def need(kind: str) -> None:
    """Hold that the test that runs now is marked as one that needs this."""
    if _marks is not None and kind not in _marks:
        raise AssertionError(f"mark this test: @pytest.mark.{kind}")


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if _marks is None:
        return
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
        if not may_change(path):  # no OSError, which the code under test would answer
            pytest.fail(f"tests write into temporary folders only, not to {path}")


def may_change(path: str) -> bool:
    """Whether a test may write there: in a temporary folder, were it not the one that holds the project."""
    real = Path(os.path.realpath(path))
    if any(part.startswith(OF_TOOLS) for part in real.parts) or real.parts[:2] == ("/", "dev"):
        return True
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    return real.is_relative_to(temporary) and not real.is_relative_to(ROOT)
