"""Every notebook is stored as a fresh run writes it, byte for byte; widget state, figures and tracebacks included.

nbval compares texts and figures cell by cell. It does not look at widget state, metadata or cells stored unrun; this
test does.
"""

from __future__ import annotations

import sys

import pytest

from tests.support.ran import ran
from tools.chapters import BOOK
from tools.refresh import differences


@pytest.mark.skipif(sys.platform != "linux", reason="the reference environment is Linux with requirements.txt")
@pytest.mark.kernel
@pytest.mark.parametrize("chapter", sorted(path.stem for path in BOOK.glob("*.ipynb")))
def test_stored_as_a_fresh_run_writes_it(chapter):
    stored, fresh = (BOOK / f"{chapter}.ipynb").read_text("utf-8"), ran(chapter).text
    shown = "\n".join(differences(stored, fresh))
    assert stored == fresh, f"{chapter} differs from a fresh run; if the change is meant: make refresh\n{shown}"
