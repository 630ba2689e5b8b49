"""A chapter's one run: the text that its file should hold, and what its cells draw, hand to lmhead and name.

It runs in a kernel of its own, once for all workers, with `recorder.py` listening.
"""

from __future__ import annotations

import functools
import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt

from tests.support import real_model, session
from tests.support.recorder import Cell, Heads
from tools.chapters import BOOK, ROOT, code_cells, figure_name, figures, needs_model, tags
from tools.refresh import refreshed


class Ran(NamedTuple):
    """What a chapter's cells do when they are run, in order."""

    text: str  # the whole notebook, as it should be stored
    axes: dict[str, Any]  # figure's name -> the Axes that its cell draws
    heads: Heads  # the shapes of every h and W_U given to lmhead
    misnamed: list[tuple[str, str]]  # variable, the cell that sets it to what it does not mean
    unfailing: list[str]  # assertions that hold whatever their values are


@functools.cache
def ran(chapter: str) -> Ran:
    """Run a chapter, or read what another worker's run left."""
    session.need("kernel")
    if needs_model(BOOK / f"{chapter}.ipynb"):
        real_model.load()  # skips, or fails under CI, where it cannot be had
    folder = session.made_once(f"ran-{chapter}", functools.partial(_run, chapter))
    with (folder / "record").open("rb") as record:
        found = []
        while record.peek(1):
            found.append(pickle.load(record))
    plt.close("all")  # pyplot keeps every figure until told otherwise; their Axes can still be read
    return _read((folder / "text").read_text("utf-8"), chapter, found)


def _run(chapter: str, folder: Path) -> Path:
    (folder / "record").touch()
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "LMHEAD_RECORD": str(folder / "record"), "PYTHONPATH": path}
    env |= {} if needs_model(BOOK / f"{chapter}.ipynb") else {"LMHEAD_PLANT": "1"}  # a kernel with the model dies of it
    text = refreshed(BOOK / f"{chapter}.ipynb", extension="tests.support.recorder", env=env)
    (folder / "text").write_text(text, "utf-8", newline="")
    return folder


def _read(text: str, chapter: str, found: list[Cell]) -> Ran:
    cells = [cell for cell in code_cells(chapter) if "raises-exception" not in tags(cell)]
    assert [cell.source for cell in cells] == [cell.source for cell in found], "a cell was not recorded"
    both = list(zip(cells, found, strict=True))
    named = {id(cell): figure_name(cell) for cell in figures(chapter)}
    ours = [(cell, did) for cell, did in both if not {"exercise", "solution"} & set(tags(cell))]  # which have traps
    return Ran(
        text,
        {named[id(cell)]: did.axes for cell, did in both if id(cell) in named},
        frozenset().union(*(did.heads for _, did in ours)),
        [(name, cell.source) for cell, did in ours for name in did.misnamed],
        [assertion for _, did in ours for assertion in did.unfailing],
    )


def axes_of(chapter: str) -> dict[str, Any]:
    """The Axes that each figure cell of a chapter draws, by the figure's name."""
    return ran(chapter).axes
