"""The course as one archive: in an empty environment, the one line that it gives installs it, and a chapter runs."""

import os
import re
import subprocess
import sys
import zipfile

import pytest

from tools import alone


def run(*command, cwd):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    clean |= {"PIP_NO_COMPILE": "1", "PIP_NO_DEPS": "1"}  # quicker, and stricter: every package has to be listed
    return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)


@pytest.mark.environment
def test_unpacked_installed_and_run(site, tmp_path):
    with zipfile.ZipFile(site / "course.zip") as zipped:
        zipped.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    said = (folder / "README.txt").read_text("utf-8")
    (line,) = re.findall(r"^    python (-m pip install .*)$", said, re.M)

    run(sys.executable, "-m", "venv", ".venv", cwd=folder)
    python = folder / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = run(python, *line.split(), "--quiet", cwd=folder)
    if installed.returncode and "NewConnectionError" in installed.stderr and not os.environ.get("CI"):
        pytest.skip("no network: the archive cannot be installed")
    assert installed.returncode == 0, installed.stderr[-2000:]

    where = run(python, "-c", "import lmhead; print(lmhead.__file__)", cwd=folder).stdout
    assert str(folder) in where, "lmhead must come out of the archive's wheel"
    chapter = "book/06_cross_entropy_by_hand.ipynb"
    ran = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", chapter, cwd=folder)
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_every_chapter_says_where_it_is(site):
    for notebook in (site / "_sources" / "book").glob("[0-9]*.ipynb"):
        start = notebook.read_text("utf-8")[:3000]
        assert "course.zip" in start, f"{notebook.name} downloaded alone does not say where the whole course is"
    with zipfile.ZipFile(site / "course.zip") as zipped:
        assert re.search(r"pip install '(.+?)\[", alone.line("", "main"))[1] in zipped.namelist()
    assert 'href="../course.zip"' in (site / "book" / "index.html").read_text("utf-8")
