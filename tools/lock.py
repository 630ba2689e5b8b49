"""Resolve requirements.in into requirements.txt: one version of each package for every supported Python and system."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"

with tempfile.TemporaryDirectory() as folder:
    venv.create(folder, with_pip=True)
    subprocess.run([Path(folder) / BIN / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    sources = ["requirements.in", "--output-file=requirements.txt", "--annotation-style=line"]
    everywhere = ["--universal", "--python-version=3.11", "--fork-strategy=fewest"]
    resolved = subprocess.run(
        [Path(folder) / BIN / "uv", "pip", "compile", "--quiet", *sources, *everywhere],
        cwd=ROOT,
        env={**os.environ, "UV_CUSTOM_COMPILE_COMMAND": "make lock"},
        check=False,
    )
sys.exit(resolved.returncode)
