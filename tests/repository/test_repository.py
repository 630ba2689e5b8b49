"""What holds the book together outside its pages: settings, contents, commands, and what must not be in the files."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lmhead
from tools.requirements import required

ROOT = Path(__file__).parents[2]


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


def test_each_chapter_leads_to_the_next_of_the_contents():
    order = [
        entry["file"]
        for part in yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
        for entry in part["chapters"]
    ]
    leads = {}
    for path in sorted((ROOT / "book").glob("[0-9]*.ipynb")):
        (leads[f"book/{path.stem}"],) = re.findall(r"Next: \{doc\}`(\w+)`", path.read_text("utf-8"))
    assert {page: f"book/{to}" for page, to in leads.items()} == {page: order[order.index(page) + 1] for page in leads}


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
        assert command in ("help", "lock", "mutants", "round", "pins", "coverage") or f"`make {command}`" in readme, (
            command
        )
    for chapter in (ROOT / "book").glob("[0-9]*.ipynb"):
        assert f"](book/{chapter.name})" in readme, chapter.name
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", readme):
        assert (ROOT / target).exists(), f"README links to {target}, which is not there"


def test_no_file_names_this_machine_or_a_package_index():
    here = [re.escape(str(folder).encode()) for folder in (ROOT, Path.home()) if len(folder.parts) > 2]
    pattern = re.compile(b"|".join([*here, rb"/home/\w+/|/Users/\w+/", rb"index-url"]))
    for path in tracked():
        if path.suffix in (".svg", ".png", ".npz") or path.relative_to(ROOT).parts[0] == "tests" or not path.is_file():
            continue
        found = pattern.findall(path.read_bytes())
        assert not found, f"{path.relative_to(ROOT)} names {found[0].decode()}"


def test_every_requirement_is_pinned():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#") and line.split()[0] != "-e":
            assert re.match(r"[\w.\[\]-]+==\S+", line), line


def test_make_test_runs_everything():
    source = (ROOT / "tools/test.py").read_text("utf-8")
    for part in ("tests", "lmhead", "book", "README.md", "--doctest-modules", "--doctest-glob=README.md", "--nbval"):
        assert f'"{part}"' in source, part
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "\ntest: .venv  ## run every test\n\t$(BIN)/python -m tools.test\n\n" in makefile
    assert (ROOT / ".ci/run").read_text("utf-8").endswith("make book\nmake test\n")
    assert "- run: make test" in (ROOT / ".github/workflows/test.yml").read_text("utf-8")
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"] == ["error"] and options["addopts"] == "--strict-markers --import-mode=importlib"


def test_a_command_ends_with_what_its_main_returns():
    commands = [
        text
        for path in sorted((ROOT / "tools").glob("*.py"))
        if "def main() -> int:" in (text := path.read_text("utf-8"))
    ]
    assert len(commands) > 5
    for command in commands:
        assert command.endswith('if __name__ == "__main__":\n    sys.exit(main())\n'), command[:60]


@pytest.mark.parametrize("name", ["test", "coverage", "round", "refresh"])
def test_a_command_ends_with_an_error_where_something_is_red(name, monkeypatch, tmp_path):
    """What it starts fails, and reports what the tests of a sound project would."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # which one of them sets
    module = importlib.import_module(f"tools.{name}")
    failed = SimpleNamespace(returncode=1, stdout="", stderr="")
    monkeypatch.setattr(sys, "argv", [name])
    if name == "refresh":
        notebook = tmp_path / "a.ipynb"
        notebook.write_text("old")
        monkeypatch.setattr(module, "refreshed", lambda path: "new")
        monkeypatch.setattr(sys, "argv", [name, "--check", str(notebook)])
    elif name == "coverage":
        monkeypatch.setattr(module, "shortfalls", lambda files, core: [])
        monkeypatch.setattr(module.Path, "read_text", lambda path, encoding: '{"files": {}}')
        monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: failed)
    else:
        fetched = SimpleNamespace(returncode=0)
        monkeypatch.setattr(module.subprocess, "run", lambda what, **_: fetched if "--fetch" in what else failed)
        monkeypatch.setattr(module, "get_browser", lambda: "chromium", raising=False)
    assert module.main() != 0


def test_what_is_asked_for_is_pinned_and_installed():
    pinned = [pin for pin in required("requirements.txt") if not pin.marker or pin.marker.evaluate()]
    pins = {pin.name.lower(): str(pin.specifier)[2:] for pin in pinned}
    assert Requirement("jupyter-book>=1.0.4,<2") in required("requirements.in")
    for requirement in required("requirements.in"):
        name = requirement.name.lower()
        assert name in pins and requirement.specifier.contains(pins[name]), requirement
        assert pins[name] == version(name), f"{name} is not the pinned one: rm -r .venv, or make lock"


def test_what_is_pinned_for_us_is_asked_for():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    for_us = {re.split("==| ", line)[0] for line in lines if "-r requirements.in" in line and not line.startswith("-e")}
    assert for_us == {one.name for one in required("requirements.in")}


def test_what_a_package_needs_is_pinned_too():
    """From what is asked for on, whatever an installed package names as its need on this system."""
    pins = {canonicalize_name(pin.name) for pin in required("requirements.txt")}
    waiting = [Requirement("lmhead[plots,widgets,model]"), *required("requirements.in")]
    seen = {(canonicalize_name(one.name), frozenset(one.extras)) for one in waiting}
    while waiting:
        one = waiting.pop()
        assert canonicalize_name(one.name) in pins | {"lmhead"}, f"{one.name} is not in requirements.txt: make lock"
        for needed in map(Requirement, requires(one.name) or []):
            wanted = (canonicalize_name(needed.name), frozenset(needed.extras))
            given = [{"extra": extra} for extra in one.extras or [""]]
            if wanted not in seen and (not needed.marker or any(map(needed.marker.evaluate, given))):
                seen.add(wanted)
                waiting.append(needed)
    assert len(seen) > 100


def test_versions_are_said_alike():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["dynamic"] == ["version"]  # lmhead/__init__.py says it
    assert f"version: {lmhead.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert version("lmhead") == lmhead.__version__, "the environment holds an older lmhead: rm -r .venv"
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or later" in (ROOT / "README.md").read_text("utf-8")
    assert "(3, 11)" in (ROOT / "Makefile").read_text("utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert config["sphinx"]["config"]["html_context"]["default_mode"] == "auto"


def test_commands_that_the_readme_gives_are_there():
    commands = re.findall(r"^\.venv/bin/python -m tools\.(\w+)", (ROOT / "README.md").read_text("utf-8"), re.M)
    assert commands and all((ROOT / f"tools/{command}.py").exists() for command in commands)
