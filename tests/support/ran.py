"""A chapter's one run: the text that its file should hold, and what its cells draw, hand to lmhead and name.

Where nbval runs the chapter, that is the run: `Heard` is its kernel, and writes down what it says. Where it does not,
as when one test is called alone, `refreshed` runs it. Either kernel has `recorder.py` listening.
"""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbval.kernel import RunningKernel, start_new_kernel
from nbval.plugin import IPyNbFile

from tests.support import real_model, session
from tests.support.recorder import Cell, Heads
from tools.chapters import BOOK, ROOT, code_cells, figure_name, figures, needs_model, tags
from tools.refresh import canonical, refreshed, to_be_run

RECORDER = "tests.support.recorder"


class Ran(NamedTuple):
    """What a chapter's cells do when they are run, in order."""

    text: str  # the whole notebook, as it should be stored
    axes: dict[str, Any]  # figure's name -> the Axes that its cell draws
    heads: Heads  # the shapes of every h and W_U given to lmhead
    misnamed: list[tuple[str, str]]  # variable, the cell that sets it to what it does not mean
    unfailing: list[str]  # assertions that hold whatever their values are


@functools.cache
def ran(chapter: str) -> Ran:
    """What nbval's run has left, or another worker's; else run the chapter."""
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


class Heard(RunningKernel):  # type: ignore[misc]
    """nbval's kernel of a notebook. From what it says, nbclient makes the notebook as it should be stored."""

    def __init__(self, path: Path) -> None:
        self.name, self.folder = f"ran-{path.stem}", Path(tempfile.mkdtemp(dir=session.folder))
        self.client = NotebookClient(to_be_run(path), record_timing=False)
        self.client.reset_execution_trackers()
        self.left = [at for at, cell in enumerate(self.client.nb.cells) if cell.cell_type == "code"]
        self.asked = ""
        how = {"cwd": str(path.parent), "env": _environment(path, self.folder), "stderr": subprocess.DEVNULL}
        self.km, self.kc = start_new_kernel(kernel_name="python3", extra_arguments=[f"--ext={RECORDER}"], **how)
        self._ensure_iopub_up()

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Run the next cell, as nbclient does: with what the ones before it gave in `In` and `Out`."""
        self.asked = self.kc.execute(cell_input, allow_stdin=allow_stdin, stop_on_error=False)
        self.client.nb.cells[self.left[0]].outputs, self.client.clear_before_next_output = [], False
        return self.asked

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """What the kernel says next."""
        message = super().get_message(stream, timeout)
        if stream == "iopub" and message["parent_header"].get("msg_id") == self.asked:
            try:
                self.client.process_message(message, self.client.nb.cells[self.left[0]], self.left[0])
            except CellExecutionComplete:
                self.left.pop(0)
        return message

    def stop(self) -> None:
        """End the kernel. Where all cells have run, that was the chapter's run."""
        super().stop()
        if not self.left:
            self.client.set_widgets_metadata()
            (self.folder / "text").write_text(canonical(self.client.nb), "utf-8", newline="")
            session.made_once(self.name, lambda _: self.folder)


WAITED_FOR: set[str] = set()  # notebooks that nbval will run, here or in another worker


def hear(notebook: IPyNbFile) -> None:
    """Have nbval run a notebook in such a kernel: Python's own, whatever options name another."""
    WAITED_FOR.add(notebook.path.stem)

    def setup() -> None:
        WAITED_FOR.discard(notebook.path.stem)
        notebook.kernel = Heard(notebook.path)
        notebook.setup_sanitize_files()

    notebook.setup = setup


def _run(chapter: str, folder: Path) -> Path:
    assert chapter not in WAITED_FOR, (
        "nbval has not run it yet: its cells come first in their group (tests/conftest.py)"
    )
    path = BOOK / f"{chapter}.ipynb"
    text = refreshed(path, extension=RECORDER, env=_environment(path, folder))
    (folder / "text").write_text(text, "utf-8", newline="")
    return folder


def _environment(path: Path, folder: Path) -> dict[str, str]:
    """Of a kernel with the recorder, which writes into the folder."""
    (folder / "record").touch()
    imported = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    plant = {} if needs_model(path) else {"LMHEAD_PLANT": "1"}  # a kernel with the model dies of it
    return {**os.environ, "LMHEAD_RECORD": str(folder / "record"), "PYTHONPATH": imported, **plant}


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
