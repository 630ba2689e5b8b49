"""A notebook alone: its first code cell says in one line what to install, and nothing where it is installed."""

import subprocess
import sys
import tomllib

import nbformat
import pytest

from tools import alone
from tools.chapters import BOOK, ROOT, tags


@pytest.mark.parametrize("notebook", sorted(BOOK.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_notebook_has_the_same_cell_after_its_title(notebook):
    title, first, *rest = nbformat.read(notebook, as_version=4).cells
    assert title.cell_type == "markdown"
    assert first.source == alone.source(), "made by tools/alone.py: make refresh"
    assert (first.id, tags(first), first.outputs) == (alone.NAME, ["remove-cell"], [])
    assert alone.NAME not in [cell.id for cell in rest]


def printed(*options):
    run = subprocess.run(
        [sys.executable, *options, "-c", alone.source()], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return run.stdout + run.stderr


def test_without_the_package_it_says_one_line_and_with_it_nothing():
    assert printed("-I", "-S") == f"{alone.said()}\n"  # -S: nothing that is installed, -I: nor this folder
    assert printed() == ""


def test_it_installs_from_the_repository_once_there_is_one_and_before_that_from_the_archive():
    from_repository, before = alone.line("https://github.com/someone/course", "main"), alone.line("", "main")
    assert from_repository.endswith("@ https://github.com/someone/course/archive/refs/heads/main.zip'")
    assert "course.zip" in before and "course.zip" not in from_repository
    assert all("\n" not in line and alone.EXTRAS in line for line in (from_repository, before))


def test_it_asks_for_all_that_a_notebook_may_import():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert f"[{','.join(extras)}]" == alone.EXTRAS
