"""The course as one archive: where nothing else is, the one line that it gives installs it, and a chapter runs."""

import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import course_archive
import pytest
from packaging.requirements import Requirement

import lmhead
from lmhead import __main__ as cli
from lmhead.smollm import load_model
from tools import alone
from tools.chapters import ROOT


def run(*command, cwd):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    clean |= {"PIP_NO_COMPILE": "1", "PIP_NO_DEPS": "1"}  # quicker, and stricter: every package has to be listed
    return subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)


def link_what_is_here(requirements: str, packages: Path) -> None:
    """Of what is asked for, what the tests' own environment has: to unpack it all anew takes minutes."""
    for line in requirements.splitlines():
        if not line or line[0] in "#./ ":
            continue
        try:
            installed = distribution(Requirement(line.partition(" #")[0]).name)
        except PackageNotFoundError:  # of another system
            continue
        for name in {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / name).exists():
                with suppress(OSError):  # a system that allows no links: pip fetches it
                    (packages / name).symlink_to(installed.locate_file(name))


@pytest.mark.environment
def test_unpacked_installed_and_run(site, tmp_path):
    with zipfile.ZipFile(site / "course.zip") as zipped:
        zipped.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    said = (folder / "README.txt").read_text("utf-8")
    (line,) = re.findall(r"^    python (-m pip install .*)$", said, re.M)

    run(sys.executable, "-m", "venv", ".venv", cwd=folder)
    python = folder / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = Path(run(python, "-c", "import site; print(site.getsitepackages()[-1])", cwd=folder).stdout.strip())
    link_what_is_here((folder / "requirements.txt").read_text("utf-8"), packages)
    installed = run(python, *line.split(), "--quiet", cwd=folder)
    if installed.returncode and "NewConnectionError" in installed.stderr and not os.environ.get("CI"):
        pytest.skip("no network: the archive cannot be installed")
    assert installed.returncode == 0, installed.stderr[-2000:]

    checked = run(python, "-m", "pip", "check", cwd=folder)
    assert checked.returncode == 0, f"make lock: {checked.stdout}"
    where = run(python, "-c", "import lmhead; print(lmhead.__file__)", cwd=folder).stdout
    assert str(folder) in where, "lmhead must come out of the archive's wheel"
    chapter = "book/06_cross_entropy_by_hand.ipynb"
    ran = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", chapter, cwd=folder)
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_each_command_of_its_readme_is_one(monkeypatch):
    """pip's is run by `test_unpacked_installed_and_run`; what opens the chapters is installed and finds them."""
    said = dict(re.findall(r"^    python -m (\S+) (.*)$", course_archive.README, re.M))
    assert list(said) == ["pip", "jupyterlab", "lmhead"] and "(python -m venv .venv)" in course_archive.README
    assert said["pip"] == "install -r requirements.txt"
    assert said["jupyterlab"] == "book" and find_spec("jupyterlab.__main__")
    fetched = []
    monkeypatch.setattr(cli, "fetch_model", lambda: fetched.append("the real model"))
    monkeypatch.setattr(cli, "load_model", lambda: pytest.fail("it asks for what comes next"))
    assert cli.main(said["lmhead"].split()) == 0 and fetched == ["the real model"]
    loading = [
        path.name for path in sorted((ROOT / "book").glob("*.ipynb")) if "= load_model(" in path.read_text("utf-8")
    ]
    named = [f"Chapter {int(name[:2])}" if name[:2].isdigit() else name for name in loading]
    assert f"\n{' and '.join(named)} run a real model" in course_archive.README
    (megabytes,) = re.findall(r"\((\d+) MB", course_archive.README)
    assert f"({megabytes} MB)" in load_model.__doc__


@pytest.mark.environment
def test_archive_and_wheel_hold_what_git_has():
    listed = run("git", "ls-files", "lmhead", "book", cwd=ROOT).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    release = f"lmhead-{lmhead.__version__}"
    wheel = f"{release}-py3-none-any.whl"
    with zipfile.ZipFile(io.BytesIO(course_archive.archive())) as zipped:
        content = {name.partition("/")[2]: zipped.read(name) for name in zipped.namelist()}
    notebooks = {name for name in listed if name.endswith(".ipynb")}
    assert set(content) == notebooks | {"README.txt", "requirements.txt", wheel}
    assert {name: content[name] == (ROOT / name).read_bytes() for name in notebooks} == dict.fromkeys(notebooks, True)
    assert f"\n./{wheel} " in content["requirements.txt"].decode()

    with zipfile.ZipFile(io.BytesIO(content[wheel])) as packed:
        package = {name: packed.read(name) for name in packed.namelist()}
    about = f"{release}.dist-info"
    written = {f"{about}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "top_level.txt", "licenses/LICENSE")}
    ours = {name for name in listed if name.startswith("lmhead/")}
    assert set(package) == ours | written
    assert [name for name in ours if package[name] != (ROOT / name).read_bytes()] == []
    assert package[f"{about}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_archive_is_packed_anew_when_a_file_that_it_packs_has_changed(monkeypatch, tmp_path):
    root = tmp_path / "project"
    for path in (*course_archive.package_files(), ROOT / "requirements.txt", next((ROOT / "book").glob("*.ipynb"))):
        (root / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, root / path.relative_to(ROOT))
    monkeypatch.setattr(course_archive, "ROOT", root)
    packed = []

    def archive() -> bytes:
        packed.append(1)
        return b""

    monkeypatch.setattr(course_archive, "archive", archive)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path, doctreedir=tmp_path)

    def packs() -> bool:
        packed.clear()
        course_archive.write(app, None)
        return bool(packed)

    assert packs() and not packs()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        path.write_bytes(path.read_bytes() + b"\n")
        assert packs(), f"{path.relative_to(root)} changed: course.zip keeps the old one"
    assert not packs()
    (tmp_path / "course.zip").unlink()  # a site that was deleted
    assert packs()


def test_every_chapter_says_where_it_is(site):
    for notebook in (site / "_sources" / "book").glob("[0-9]*.ipynb"):
        start = notebook.read_text("utf-8")[:3000]
        assert "course.zip" in start, f"{notebook.name} downloaded alone does not say where the whole course is"
    with zipfile.ZipFile(site / "course.zip") as zipped:
        assert re.search(r"pip install '(.+?)\[", alone.line("", "main"))[1] in zipped.namelist()
    assert 'href="../course.zip"' in (site / "book" / "index.html").read_text("utf-8")
