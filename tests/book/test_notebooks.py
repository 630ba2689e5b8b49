"""Every notebook is stored as a fresh run writes it, byte for byte; widget state, figures and tracebacks included.

nbval compares texts and figures cell by cell. It does not look at widget state, metadata or cells stored unrun; this
test does.
"""

from __future__ import annotations

import sys

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from tests.support.planting import unfailing
from tests.support.ran import Heard, ran
from tools.alone import with_first_cell
from tools.chapters import BOOK, CHAPTERS, needs_model
from tools.refresh import differences, refreshed

every_notebook = pytest.mark.parametrize("chapter", sorted(path.stem for path in BOOK.glob("*.ipynb")))


@pytest.mark.skipif(sys.platform != "linux", reason="the reference environment is Linux with requirements.txt")
@pytest.mark.kernel
@every_notebook
def test_stored_as_a_fresh_run_writes_it(chapter):
    stored, fresh = (BOOK / f"{chapter}.ipynb").read_text("utf-8"), ran(chapter).text
    shown = "\n".join(differences(stored, fresh))
    assert stored == fresh, f"{chapter} differs from a fresh run; if the change is meant: make refresh\n{shown}"


@pytest.mark.kernel
@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if not needs_model(BOOK / f"{name}.ipynb")])
def test_every_assertion_can_fail(chapter):
    """Each is tried with wrong values in the places of those that it names."""
    assert ran(chapter).unfailing == [], "these assert nothing: they hold with values that are far off"


P = np.array([0.2, 0.8])


@pytest.mark.parametrize(
    "test", ["np.allclose(p, p)", "len(p) >= 0", "p is p", "total == total", "counts == {**counts}", "1 < 2000"]
)
def test_an_assertion_that_holds_whatever_is_planted_is_seen(test):
    assert unfailing(f"assert {test}", {"np": np, "p": P, "total": 1.0, "counts": {"a": [1]}}) == [test]


@pytest.mark.parametrize(
    "test",
    [
        "np.allclose(p.sum(), 1)",
        "(p > 0).all()",
        "total < 1e-12 or total == 1",
        "counts == {'a': [1]}",
        "1 == 1",
        "f(3) == 9",
    ],
)
def test_an_assertion_that_can_fail_is_not(test):
    known = {"np": np, "p": P, "total": 1.0, "counts": {"a": [1]}, "f": lambda x: x * x}
    assert unfailing(f"assert {test}", known) == []


TINY = [
    "print('a')\nprint('b')\n1 + 1",
    "_ + 1, len(In), Out[2]",
    "from IPython.display import display\nhandle = display('old', display_id=True)\nhandle.update('new')",
    "from IPython.display import clear_output\nprint('gone')\nclear_output(wait=True)\nprint('stays')",
    "import ipywidgets\nipywidgets.IntSlider(3)",
    "1 / 0",
]


@pytest.mark.kernel
def test_what_nbvals_kernel_is_heard_to_say_is_what_a_refresh_writes(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Tiny"), *map(new_code_cell, TINY)])
    notebook.cells[-1].metadata.tags = ["raises-exception"]
    path = tmp_path / "tiny.ipynb"
    nbformat.write(with_first_cell(notebook), path)
    kernel = Heard(path)
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            asked = kernel.execute_cell_input(cell.source, allow_stdin=False)  # as nbval goes through them
            kernel.await_reply(asked, timeout=60)
            kernel.await_idle(asked, timeout=60)
    kernel.stop()
    heard = (kernel.folder / "text").read_text("utf-8")
    assert heard == refreshed(path)
    assert all(said in heard for said in ("'new'", "stays", "(3, 4, 2)", "ZeroDivisionError", "IntSliderModel"))
