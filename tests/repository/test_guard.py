"""The tests themselves: none can write outside temporary folders, or need what it does not say that it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lmhead.fetch import cache_folder
from tests.support import session
from tools.chapters import BOOK, ROOT

HERE = ROOT / "written-by-a-test"
ATTEMPTS: dict[str, Callable[[], object]] = {
    "open": lambda: HERE.open("w"),
    "append": lambda: HERE.open("ab"),
    "descriptor": lambda: os.open(HERE, os.O_CREAT | os.O_RDWR),
    "write_text": lambda: HERE.write_text("x"),
    "mkdir": lambda: HERE.mkdir(),
    "remove": lambda: HERE.unlink(),
    "rename": lambda: HERE.rename(BOOK / "elsewhere"),
    "copy": lambda: shutil.copy(BOOK / "index.md", HERE),
    "symlink": lambda: HERE.symlink_to(BOOK),
    "rmtree": lambda: shutil.rmtree(HERE),
    "relative": lambda: Path("written-by-a-test").touch(),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_no_test_writes_among_the_sources(attempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(pytest.fail.Exception, match="temporary folders only"):
        ATTEMPTS[attempt]()
    assert not HERE.exists() and (BOOK / "index.md").exists()


def test_nor_through_a_link_to_what_was_fetched(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ROOT / "README.md")
    with pytest.raises(pytest.fail.Exception, match="temporary folders only"):
        (tmp_path / "link").write_text("x")


def test_a_temporary_folder_can_be_filled_and_emptied(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_text("x")
    shutil.rmtree(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_what_a_test_starts_has_another_home() -> None:
    code = "from pathlib import Path; from lmhead.fetch import cache_folder; print(Path.home(), cache_folder())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(Path(folder).is_relative_to(session.folder) for folder in run.stdout.split())
    assert cache_folder().is_relative_to(session.folder)


@pytest.mark.parametrize(
    "code", ["open('{}', 'w')", "import os; os.mkdir('{}')", "import numpy; numpy.save('{}', [1])"]
)
def test_what_a_test_starts_writes_nowhere_else(code: str) -> None:
    """Nor can it answer that: it is no `Exception`."""
    tried = f"try:\n  {code.format(HERE)}\nexcept Exception:\n  print('went on')"
    run = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True)
    assert "temporary folders only" in run.stderr and run.returncode and not run.stdout
    assert not list(ROOT.glob(f"{HERE.name}*"))


@pytest.mark.parametrize("kind", ["browser", "site", "model", "kernel"])
def test_what_a_test_needs_it_says(kind: str) -> None:
    with pytest.raises(AssertionError, match=rf"mark this test: @pytest.mark.{kind}"):
        session.need(kind)
