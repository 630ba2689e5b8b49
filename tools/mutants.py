"""Prove the tests: put plausible faults into the project, one at a time, and see each of them caught.

    python -m tools.mutants             all of them (`make mutants`)
    python -m tools.mutants loss        those whose name holds "loss"
    python -m tools.mutants prose       those of the kind `tools/faults/prose.py`

Each fault is made in a copy of the tracked files, and the tests named beside it run there. A fault that they let pass
has survived, and the run fails; so it does if the test that caught one is red without any, or if its set-up stopped it
before it could look at what it is about. Where it says so, notebooks that it touches are first made anew with the fault
in them, as a maintainer does who does not look; if they cannot be, the cell that stops has caught it. A script that
pages load as it is written is planted in a built site too, which need not be built again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from queue import Queue

from tools.faults import KINDS
from tools.faults.mutant import Mutant

ROOT = Path(__file__).parents[1]
SITE = "_build/html"

SET_UP = " (its set-up)"  # behind the name of a test that could not begin
ONLY_WHAT_IS_NAMED = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to load all plugins takes longer than most tests


@contextmanager
def copy_of_the_project() -> Iterator[Path]:
    """The tracked files in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in listed.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, Path(folder) / name)
        for command in (["init", "--quiet"], ["add", "--all"]):  # for the tests that ask git which files there are
            subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
        yield Path(folder)


@contextmanager
def copies_of_the_project(count: int, *, built: bool) -> Iterator[Queue[Path]]:
    """Some copies, each with a site if wanted, which is built once."""
    copies = Queue[Path]()
    with copy_of_the_project() as project, tempfile.TemporaryDirectory() as others:
        if built:
            program = str(shutil.which("jupyter-book", path=Path(sys.executable).parent))
            command = [program, "build", str(project), "-W", "-n", "--keep-going"]
            subprocess.run(command, env=env_of(project), capture_output=True, check=True)
        copies.put(project)
        for number in range(1, count):
            copies.put(Path(shutil.copytree(project, Path(others) / str(number))))
        yield copies


@contextmanager
def lent(copies: Queue[Path]) -> Iterator[Path]:
    """One of the copies, for as long as it is needed."""
    project = copies.get()
    try:
        yield project
    finally:
        copies.put(project)


def in_the_site(name: str, project: Path) -> list[Path]:
    """The files of the built site that hold this script as it is written."""
    written = (project / name).read_bytes()
    alike = (project / SITE).rglob(f"*{Path(name).suffix}")
    return [file for file in alike if written in file.read_bytes()]


def drives_pages_with(mutant: Mutant) -> bool:
    """Whether its tests look at the site, and all that it changes are scripts: styles are cut for each page."""
    scripts = all(re.fullmatch(r"book/.*\.js", name) for name, _, _ in mutant.places())
    return "tests/site/" in mutant.tests and scripts and not mutant.refresh


def caught_by(mutant: Mutant, project: Path) -> str | None:
    """The first test that goes red over the fault, or None; the copy is mended afterwards."""
    with planted(mutant, project) as stopped:
        return stopped or red_test(mutant, project)


@contextmanager
def planted(mutant: Mutant, project: Path) -> Iterator[str | None]:
    """The copy with the fault in it, and the notebook that could not be made anew with it, if there is one."""
    anew = [path for number in mutant.refresh.split() for path in (project / "book").glob(f"{number}_*.ipynb")]
    places = {name: [project / name] for name, _, _ in mutant.places()}
    if drives_pages_with(mutant):
        places = {name: [*files, *in_the_site(name, project)] for name, files in places.items()}
    sound = {path: path.read_bytes() for path in [*chain(*places.values()), *anew]}
    try:
        for name, old, new in mutant.places():
            before = (project / name).read_bytes()
            after = mutant.apply(before, old, new)
            for file in places[name]:
                file.write_bytes(file.read_bytes().replace(before, after))
        refresh = [sys.executable, "-m", "tools.refresh", *map(str, anew)]
        made = anew and subprocess.run(refresh, cwd=project, env=env_of(project), capture_output=True, check=False)
        yield f"{mutant.refresh}: a cell stops" if made and made.returncode else None
    finally:
        for path, data in sound.items():
            path.write_bytes(data)


def env_of(project: Path) -> dict[str, str]:
    """What programs find that run in the copy: its modules, not those of the project."""
    return {**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1", **ONLY_WHAT_IS_NAMED}


def red_test(mutant: Mutant, project: Path) -> str | None:
    """The first test of those named that is red, or None."""
    options = ["-p", "nbval.plugin"] if "--nbval" in mutant.tests else []
    if drives_pages_with(mutant) and all(in_the_site(name, project) for name, _, _ in mutant.places()):
        options += ["--site", str(project / SITE)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *mutant.tests.split()],
        cwd=project,
        env=env_of(project),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1, 2):  # 2: a file of tests that cannot even be read
        raise RuntimeError(f"{mutant.name}: pytest could not run\n{run.stdout}\n{run.stderr}")
    red = re.search(r"^(FAILED|ERROR) (\S+)", run.stdout, re.M)
    if run.returncode and not red:
        raise RuntimeError(f"{mutant.name}: pytest failed, and no test\n{run.stdout}\n{run.stderr}")
    return red and red[2] + (SET_UP if red[1] == "ERROR" and "::" in red[2] else "")


def proves(test: str | None) -> bool:
    """Whether a fault was caught by what its test looks at: a set-up that is stopped stops tests about anything."""
    return test is not None and not test.endswith(SET_UP)


def verdicts(mutants: list[Mutant], workers: int) -> dict[str, str | None]:
    """Try the mutants, print who was caught by what, and return for each the test that caught it, or None."""

    def tried(mutant: Mutant) -> str | None:
        with lent(copies) as project:
            begun = time.monotonic()
            test = caught_by(mutant, project)
        verdict, took = "killed" if proves(test) else "SURVIVED", time.monotonic() - begun
        print(f"{verdict:9} {mutant.name:42} {took:4.0f} s  {test or mutant.tests}", flush=True)
        return test

    mutants = sorted(mutants, key=lambda mutant: "tests/site/" not in mutant.tests)  # the longest first
    built = any(map(drives_pages_with, mutants))
    with copies_of_the_project(workers, built=built) as copies, ThreadPoolExecutor(workers) as pool:
        return dict(zip([mutant.name for mutant in mutants], pool.map(tried, mutants), strict=True))


def red_anyway(caught: Iterable[str]) -> str | None:
    """The first of the tests that caught a fault which is red without one, too; or None."""
    # A cell is asked for by its notebook, a name cut at a blank by its function; "06: a cell stops" is no test.
    tests = {re.sub(r"(?<=\.ipynb)::.*|\[[^]]*$", "", test) for test in caught}
    named = sorted(test for test in tests if "/" in test)
    of_pages = [test for test in named if test.startswith("tests/site/")]

    def red_of(some: list[str]) -> str | None:
        wanted = ["--nbval"] if any(test.endswith(".ipynb") for test in some) else []
        with copy_of_the_project() as project:
            return red_test(Mutant("no fault", "", "", "", " ".join([*wanted, *some])), project) if some else None

    with ThreadPoolExecutor() as pool:  # those of the pages take as long as all others
        return next(filter(None, pool.map(red_of, [of_pages, [test for test in named if test not in of_pages]])), None)


def main() -> int:
    """Try all mutants, or those whose name holds a word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="")
    word = parser.parse_args().word
    chosen = [one for kind, faults in KINDS.items() for one in faults if word in one.name or word == kind]
    if not chosen:
        parser.error(f"no fault and no kind is called {word}")
    found = verdicts(chosen, workers=(os.cpu_count() or 1) + 1)
    alive = [name for name, test in found.items() if not proves(test)]
    print(f"{len(chosen)} mutants, {len(chosen) - len(alive)} killed, {len(alive)} survived", flush=True)
    red = red_anyway(test for test in found.values() if test and proves(test))
    if red:
        print(f"RED without any fault, so that it proves nothing: {red}")
    return int(bool(alive or red))


if __name__ == "__main__":
    sys.exit(main())
