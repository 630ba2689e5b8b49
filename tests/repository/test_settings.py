"""What machines and lawyers read: workflows, scripts, licences and extras, each fact the same wherever it stands."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tools.chapters import ROOT
from tools.requirements import required
from tools.round import ROUND

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
PYTHONS = ["3.11", "3.12", "3.13"]


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def workflow(name: str) -> dict[Any, Any]:
    return yaml.safe_load(text(f".github/workflows/{name}.yml"))


def steps(job: dict[str, Any]) -> list[str]:
    """What a job does: its commands, and the actions that it uses, without their commits."""
    return [step.get("run") or step["uses"].partition("@")[0] for step in job["steps"]]


# ---- workflows and scripts


def test_nothing_is_published_before_every_test_has_passed() -> None:
    jobs = workflow("test")["jobs"]
    assert (jobs["publish"]["needs"], jobs["test"]["needs"]) == ("test", "quick")
    assert jobs["publish"]["if"] == "github.ref == 'refs/heads/main'"
    for job in jobs.values():
        assert "continue-on-error" not in job and not any("continue-on-error" in step for step in job["steps"])
    for name in ("quick", "test"):
        assert "if" not in jobs[name] and not any("if" in step for step in jobs[name]["steps"]), name
    assert steps(jobs["quick"])[-1] == "make quick"
    assert steps(jobs["test"])[-2:] == ["make book PYTHON=python", "make test PYTHON=python"]
    publish = steps(jobs["publish"])
    assert publish[-3:] == ["make book", "actions/upload-pages-artifact", "actions/deploy-pages"]
    assert jobs["publish"]["steps"][-2]["with"]["path"] == "_build/html"


def test_every_push_to_main_and_every_proposal_is_tested_and_may_write_nothing() -> None:
    found = workflow("test")
    assert found[True] == {"push": {"branches": ["main"]}, "pull_request": None}  # YAML reads `on` as true
    assert "schedule" in workflow("round")[True]
    for name in ("test", "round", "beyond"):
        assert workflow(name)["permissions"] == {"contents": "read"}
        for title, job in workflow(name)["jobs"].items():
            may = {"pages": "write", "id-token": "write"} if title == "publish" else None
            assert job.get("permissions") == may and job["timeout-minutes"] <= 90, title


def test_every_python_and_system_is_tried() -> None:
    jobs = workflow("test")["jobs"]
    assert jobs["test"]["strategy"] == {
        "fail-fast": False,
        "matrix": {"os": ["ubuntu-latest", "macos-latest", "windows-latest"], "python": PYTHONS},
    }
    assert jobs["test"]["runs-on"] == "${{ matrix.os }}"
    given = {name: [s["with"]["python-version"] for s in job["steps"] if "python-version" in s.get("with", {})]
             for name, job in (jobs | workflow("round")["jobs"]).items()}  # fmt: skip
    assert given.pop("test") == ["${{ matrix.python }}"]
    assert sorted(given.pop("round")[0].split()) == PYTHONS
    assert given == {"quick": PYTHONS[:1], "publish": PYTHONS[:1]}
    assert [one.python for one in ROUND if one.python] == [f"python{version}" for version in PYTHONS]
    supported = SpecifierSet(PROJECT["requires-python"])
    assert [version for version in ("3.9", "3.10", *PYTHONS) if version in supported] == PYTHONS
    assert f"--python-version={PYTHONS[0]}" in text("tools/lock.py")
    assert text("runtime.txt").strip() == f"python-{PYTHONS[0]}"
    assert text(".devcontainer/Dockerfile").startswith(f"FROM python:{PYTHONS[0]}-")


def test_both_ends_of_the_numpys_that_are_allowed_are_tried() -> None:
    """The oldest, and the newest there is: no end of the range is left to hope."""
    (numpy,) = map(Requirement, PROJECT["dependencies"])
    (oldest,) = numpy.specifier
    assert (numpy.name, oldest.operator) == ("numpy", ">=")
    tried = [Requirement(one.numpy).specifier for one in ROUND if one.numpy]
    assert len(tried) == 2 and tried[0] == SpecifierSet(f"=={oldest.version}.*")
    assert {one.operator for one in tried[1]} == {">="}, "neither has an upper end"


def test_each_action_is_pinned_to_one_commit() -> None:
    used = [
        re.fullmatch(r"([\w/-]+)@([0-9a-f]{40}) # (v[\d.]+)", line).groups()
        for name in ("test", "round", "beyond")
        for line in re.findall(r"uses: (.+)", text(f".github/workflows/{name}.yml"))
    ]
    assert len(set(used)) == len({action for action, _, _ in used}), "an action at two commits"


def test_new_versions_are_proposed_but_for_those_that_the_requirements_rule_out() -> None:
    updates = {one["package-ecosystem"]: one for one in yaml.safe_load(text(".github/dependabot.yml"))["updates"]}
    assert set(updates) == {"pip", "github-actions"}
    assert all(one["schedule"] == {"interval": "monthly"} and one["directory"] == "/" for one in updates.values())
    ignored = {one["dependency-name"]: one["versions"] for one in updates["pip"]["ignore"]}
    below = {
        one.name: [limit.version for limit in one.specifier if limit.operator == "<"]
        for one in required("requirements.in")
    }
    assert ignored == {name: [f">={version}" for version in limits] for name, limits in below.items() if limits}


def test_what_is_kept_between_runs_hangs_on_what_it_is_made_of() -> None:
    for name in re.findall(r"'([\w/]+\.\w+)'", text(".github/workflows/test.yml")):
        assert (ROOT / name).is_file(), name
    (kept,) = [step for step in workflow("test")["jobs"]["test"]["steps"] if "actions/cache" in step.get("uses", "")]
    assert kept["with"]["path"] in workflow("test")["jobs"]["test"]["env"]["LMHEAD_CACHE"]


def test_the_weekly_round_runs_what_make_has() -> None:
    job = workflow("round")["jobs"]["round"]
    assert steps(job)[-1] == "make ${{ matrix.command }}"
    commands = job["strategy"]["matrix"]["command"]
    assert {"round", "mutants", "twins", "sweep"} <= set(commands)
    for command in commands:
        assert re.search(rf"^{command}:.*##", text("Makefile"), re.M), command
    for name in ("round", "beyond"):
        (each,) = workflow(name)[True]["schedule"]
        assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", each["cron"]), "a day of every week"


def test_each_sweep_that_most_runs_leave_out_is_in_a_weekly_command() -> None:
    flags = set(re.findall(r'addoption\("(--every-[a-z]+)"', text("tests/conftest.py")))
    recipes = dict(re.findall(r"^([a-z]+):.*\n\t(.*--every-[a-z]+)$", text("Makefile"), re.M))
    assert {recipe.split()[-1] for recipe in recipes.values()} == flags and len(flags) == 2
    assert set(recipes) <= set(workflow("round")["jobs"]["round"]["strategy"]["matrix"]["command"])


def test_a_half_made_environment_is_made_again() -> None:
    rules = re.findall(r"^(\S+/installed): (.*)\n((?:\t.*\n)+)", text("Makefile"), re.M)
    assert len(rules) == 3
    for target, needs, recipe in rules:
        *_, last = recipe.strip().splitlines()
        assert last.strip() == "touch $@", target
        assert set(re.findall(r"-r (\S+)", recipe)) <= {*needs.split(), "$<"}, target
        assert "pyproject.toml" in needs, target


def test_a_server_is_for_this_machine_alone() -> None:
    lines = [line for name in ("Makefile", "README.md") for line in text(name).splitlines() if "http.server" in line]
    assert lines and all("--bind 127.0.0.1" in line for line in lines), lines


def test_what_is_beyond_the_course_is_tried_weekly_by_the_first_python_and_the_last() -> None:
    job = workflow("beyond")["jobs"]["beyond"]
    assert "schedule" in workflow("beyond")[True]
    assert job["strategy"]["matrix"] == {"python": [PYTHONS[0], PYTHONS[-1]]}
    assert any("bubblewrap" in step for step in steps(job))  # without it, grading is left out
    assert "make --keep-going test-beyond " in steps(job)[-1]


def test_a_test_machine_stops_at_the_first_fault_and_skips_nothing() -> None:
    lines = [line for line in text(".ci/run").splitlines() if line and line[0] not in "# "]
    assert lines[0] == "set -euo pipefail" and lines[2] == "export CI=true"
    assert lines[-2:] == ["make book", "make test"]


def test_the_pages_are_in_english() -> None:
    assert "language" not in CONFIG["sphinx"]["config"] and "language" not in CONFIG  # which is English
    assert re.findall(r"<html lang=.*>", text("book/_templates/redirect.html")) == ['<html lang="en">']


# ---- licences, names, versions


def test_the_licences_are_named_alike() -> None:
    assert PROJECT["license"] == CITED["license"] == "MIT"
    assert text("LICENSE").startswith("MIT License\n") and PROJECT["license-files"] == ["LICENSE"]
    assert "The code is under the [MIT licence](LICENSE)" in " ".join(text("README.md").split())
    assert "licensed under the MIT licence in [LICENSE](LICENSE)" in " ".join(text("LICENSE-TEXT.md").split())
    for name in ("README.md", "LICENSE-TEXT.md"):
        assert set(re.findall(r"CC BY[\w-]* [\d.]*\d", text(name))) == {"CC BY 4.0"}, name
    assert "Attribution 4.0 International" in text("LICENSE-TEXT.md")
    assert re.findall(r"creativecommons\.org/\S+?(?=\))", text("LICENSE-TEXT.md")) == [
        "creativecommons.org/licenses/by/4.0/"
    ]


def test_the_licence_of_the_model_is_the_one_that_lies_beside_it() -> None:
    title, version = text("lmhead/data/LICENSE-SmolLM2.txt").split("\n")[:2]
    name = f"{title.strip()} {version.strip().split(',')[0].replace('Version ', '')}"
    assert name == "Apache License 2.0"
    said = re.findall(r"\(((?:Apache|MIT|BSD|GNU)[^,)]*)", text("lmhead/data/README.md"))
    assert said == [name, name, "MIT License"]  # the model, its carrier, and the carrier of the names


def test_the_authors_and_the_year_are_said_alike() -> None:
    (author,) = CITED["authors"]
    year, holder = re.search(r"^Copyright \(c\) (\d{4}) (.+)$", text("LICENSE"), re.M).groups()
    assert holder == author["name"] == CONFIG["author"] and f'"{holder}"' in text("LICENSE-TEXT.md")
    assert year == CONFIG["copyright"] == str(CITED["date-released"])[:4]
    assert CITED["title"].startswith(f"{CONFIG['title']}:")
    assert text("README.md").startswith(f"# {CONFIG['title']}\n")
    assert CONFIG["sphinx"]["config"]["html_theme_options"]["logo"]["text"] == CONFIG["title"]


def test_the_version_and_its_day_are_said_alike() -> None:
    version, day = re.search(r"^## ([\d.]+), .*\((\d{4}-\d\d-\d\d)\)$", text("CHANGELOG.md"), re.M).groups()
    assert (version, day) == (CITED["version"], str(CITED["date-released"]))
    assert f'__version__ = "{version}"' in text("lmhead/__init__.py")


def test_what_stands_in_two_requirements_has_one_version() -> None:
    """What is beside the course, and what runs on its pages, is the same package where both have it."""

    def pins(path: Path) -> set[tuple[str, str]]:
        return {(one.name.lower(), str(one.specifier)[2:]) for one in required(path)}

    course = pins(ROOT / "requirements.txt")  # of NumPy, say, one version for Python 3.11 and one from 3.12 on
    others = {path: pins(path) for path in (ROOT / "beyond").glob("*/requirements.txt")}
    on_the_page = json.loads(text("book/_ext/live_python/manifest.json"))["installed"]
    others[ROOT / "the pages"] = {(entry["package"].lower(), entry["version"]) for entry in on_the_page}
    for path, pinned in others.items():
        both = {name for name, _ in course} & {name for name, _ in pinned}
        takes_ours = path.is_file() and "\n-r ../../requirements.txt\n" in path.read_text("utf-8")
        assert (both or takes_ours) and {pin for pin in pinned if pin[0] in both} <= course, path


# ---- extras

HOMES = {
    "plots": ["plots"],
    "widgets": ["widgets"],
    "model": ["smollm", "fetch.py"],
}  # extra -> where its imports stand
COMES_WITH = {"traitlets": "ipywidgets", "cycler": "matplotlib"}  # a package that another one cannot be without


def foreign(path: Path) -> set[str]:
    """The packages that a module imports, anywhere in it, besides Python's own, NumPy and ours."""
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"numpy", "lmhead"}


@pytest.mark.parametrize("extra", HOMES)
def test_an_extra_is_what_its_modules_import(extra: str) -> None:
    folder = ROOT / "lmhead"
    files = [file for home in HOMES[extra] for file in ([*(folder / home).rglob("*.py")] or [folder / home])]
    imported = {COMES_WITH.get(name, name) for file in files for name in foreign(file)}
    listed = {Requirement(line).name for line in PROJECT["optional-dependencies"][extra]}
    assert listed == imported


def test_no_module_outside_the_homes_of_extras_imports_more_than_numpy() -> None:
    assert set(HOMES) == set(PROJECT["optional-dependencies"])
    homes = [ROOT / "lmhead" / name for names in HOMES.values() for name in names]
    for file in (ROOT / "lmhead").rglob("*.py"):
        if not any(file == home or home in file.parents for home in homes):
            assert not foreign(file), file.name
