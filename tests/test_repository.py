"""What holds the book together outside its pages: settings, contents, commands, and what must not be in the files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    return [ROOT / name for name in listed if name] or pytest.skip("not a git checkout")


def test_every_page_is_in_the_contents():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    listed = [toc["root"], *(entry["file"] for part in toc["parts"] for entry in part["chapters"])]
    pages = [f"book/{page.stem}" for kind in ("*.md", "*.ipynb") for page in (ROOT / "book").glob(kind)]
    assert sorted(listed) == sorted(pages)


def test_pages_show_the_stored_outputs():
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert config["execute"]["execute_notebooks"] in ("off", False)


def test_warnings_stop_the_build():
    command = "jupyter-book build . -W -n --keep-going"
    assert f"\t$(BIN)/{command}\n" in (ROOT / "Makefile").read_text("utf-8")
    assert f".venv/bin/{command}" in (ROOT / "README.md").read_text("utf-8")


def test_the_readme_lists_every_command_and_every_chapter():
    readme = (ROOT / "README.md").read_text("utf-8")
    for command in re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.M):
        assert command in ("help", "lock", "mutants", "round") or f"`make {command}`" in readme, command
    for chapter in (ROOT / "book").glob("[0-9]*.ipynb"):
        assert f"](book/{chapter.name})" in readme, chapter.name
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", readme):
        assert (ROOT / target).exists(), f"README links to {target}, which is not there"


def test_no_file_names_a_machine_or_a_registry():
    pattern = re.compile(
        rb"/(?:work|root|farm|home/\w+|tmp)/|pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org"
    )
    for path in tracked():
        if path.suffix in (".svg", ".png", ".npz") or path.parent.name == "tests" or not path.is_file():
            continue
        found = pattern.findall(path.read_bytes())
        assert not found, f"{path.relative_to(ROOT)} names {found[0].decode()}"


def test_every_requirement_is_pinned():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#") and line.split()[0] != "-e":
            assert re.match(r"[\w.\[\]-]+==\S+", line), line
