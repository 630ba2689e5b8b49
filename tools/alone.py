"""The first code cell of every notebook, shown on no page: without the course, it says in one line what to install."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).parents[1]
NAME = "needs-the-course"
EXTRAS = "[plots,widgets,model]"  # of pyproject.toml: all that a notebook imports
FROM_REPOSITORY = "run  %pip install 'lmhead{extras} @ {url}/archive/refs/heads/{branch}.zip'"
FROM_ARCHIVE = (
    "upload course.zip, from the book's first page, and run  "
    "!python -m zipfile -e course.zip . && pip install '{folder}/lmhead-{version}-py3-none-any.whl{extras}'"
)
SOURCE = """\
import importlib.util

if not importlib.util.find_spec("lmhead"):
    print(
        {line}
    )"""


def line(url: str, branch: str) -> str:
    """What to run: of the repository's archive where there is a repository, else of an uploaded `course.zip`."""
    if url:
        return FROM_REPOSITORY.format(extras=EXTRAS, url=url, branch=branch)
    version = one(r'^__version__ = "(.+?)"', "lmhead/__init__.py")
    folder = one(r'^FOLDER = "(.+?)"', "book/_ext/course_archive.py")
    return FROM_ARCHIVE.format(extras=EXTRAS, folder=folder, version=version)


def one(pattern: str, path: str) -> str:
    """The one place of a file that a pattern describes."""
    (found,) = re.findall(pattern, (ROOT / path).read_text("utf-8"), re.M)
    return str(found)


def said() -> str:
    """The line that the cell prints, as `repository.url` in `_config.yml` has it."""
    repository = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["repository"]
    return "This notebook needs its course: " + line(repository["url"], repository["branch"])


def source() -> str:
    """The cell."""
    pieces = textwrap.wrap(said(), 72, drop_whitespace=False)
    return SOURCE.format(line="\n        ".join(map(repr, pieces)))


def with_first_cell(notebook: NotebookNode) -> NotebookNode:
    """The notebook with that cell after its title, in place of an older one."""
    title, *rest = (cell for cell in notebook.cells if cell.id != NAME)
    metadata = {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
    notebook.cells = [title, new_code_cell(source(), id=NAME, metadata=metadata), *rest]
    return notebook
