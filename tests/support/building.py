"""How the tests build the book."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support import session


def build_book(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make book` does: with warnings as errors, all of them shown."""
    session.need("site")
    program = shutil.which("jupyter-book", path=Path(sys.executable).parent)
    command = [str(program), "build", str(source), "--path-output", str(out), "-W", "-n", "--keep-going"]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
