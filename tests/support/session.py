"""One temporary folder for a whole run of the tests, shared by its workers; nothing is written outside such folders.

`HOME` and the caches lie in that folder, for this process and for all that it starts. What writes anywhere but into the
temporary folder of the system gets an error: a test by `_guard`, a Python that it starts by `started/sitecustomize.py`.
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

from tests.support.started.write_guard import forbidden

folder: Path  # set by `begin`
_marks: set[str] | None = None  # of the test that runs now


def begin(shared: str | None) -> None:
    """Take the folder that another process of this run has made, or make it."""
    global folder
    folder = Path(shared or tempfile.mkdtemp(prefix="lmhead-tests-"))
    if shared is None:
        _move_home()
        started = [str(Path(__file__).with_name("started")), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, started))
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


@contextmanager
def guarded(marks: set[str]) -> Iterator[None]:
    """Inside, a test with these marks runs: what writes elsewhere is refused."""
    global _marks
    _marks = marks
    os.environ["LMHEAD_TESTS_TEMPORARY"] = tempfile.gettempdir()
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
    for path in forbidden(
        event, arguments, tempfile.gettempdir()
    ):  # no OSError, which the code under test would answer
        pytest.fail(f"tests write into temporary folders only, not to {path}")
