"""Every notebook is stored as a fresh run writes it, byte for byte; widget state, figures and tracebacks included.

nbval compares texts and figures cell by cell. It does not look at widget state, metadata or cells stored unrun; this
test does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lmhead.fetch import FetchError
from lmhead.smollm.model import fetch_model
from tools.refresh import differences, refreshed

ROOT = Path(__file__).parents[2]

NOTEBOOKS = sorted((ROOT / "book").glob("*.ipynb"))


@pytest.mark.skipif(sys.platform != "linux", reason="the reference environment is Linux with requirements.txt")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_as_a_fresh_run_writes_it(path):
    if path.stem.startswith("09"):
        try:
            fetch_model()
        except FetchError as error:
            pytest.skip(str(error))
    stored, fresh = path.read_text("utf-8"), refreshed(path)
    shown = "\n".join(differences(stored, fresh))
    assert stored == fresh, f"{path.name} differs from a fresh run; if the change is meant: make refresh\n{shown}"
