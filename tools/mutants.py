"""Prove the tests: put plausible faults into the project, one at a time, and see each of them caught.

    python -m tools.mutants             all of them (`make mutants`)
    python -m tools.mutants loss        those whose name holds "loss"
    python -m tools.mutants prose       those of the kind `tools/faults/prose.py`

Each fault is made in a copy of the tracked files, and the tests named beside it run there. A fault that they let pass
has survived, and the run fails; so it does if a test that caught one is red without any. Where it says so, notebooks
that it touches are first made anew with the fault in them, as a maintainer does who does not look; if they cannot be,
the cell that stops has caught it.
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
from pathlib import Path

from tools.faults import KINDS
from tools.faults.mutant import Mutant

ROOT = Path(__file__).parents[1]

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


def caught_by(mutant: Mutant, project: Path) -> str | None:
    """The first test that goes red over the fault, or None; the copy is mended afterwards."""
    with planted(mutant, project) as stopped:
        return stopped or red_test(mutant, project)


@contextmanager
def planted(mutant: Mutant, project: Path) -> Iterator[str | None]:
    """The copy with the fault in it, and the notebook that could not be made anew with it, if there is one."""
    anew = [path for number in mutant.refresh.split() for path in (project / "book").glob(f"{number}_*.ipynb")]
    sound = {path: path.read_bytes() for path in [*(project / name for name, _, _ in mutant.places()), *anew]}
    try:
        for name, old, new in mutant.places():
            (project / name).write_bytes(mutant.apply((project / name).read_bytes(), old, new))
        refresh = [sys.executable, "-m", "tools.refresh", *map(str, anew)]
        made = (
            subprocess.run(refresh, cwd=project, env=env_of(project), capture_output=True, check=False)
            if anew
            else None
        )
        yield f"{mutant.refresh}: a cell stops" if made and made.returncode else None
    finally:
        for path, data in sound.items():
            path.write_bytes(data)


def env_of(project: Path) -> dict[str, str]:
    """What programs find that run in the copy: its modules, not those of the project."""
    return {**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1", **ONLY_WHAT_IS_NAMED}


def red_test(mutant: Mutant, project: Path) -> str | None:
    """The first test of those named that is red, or None."""
    plugins = ["-p", "nbval.plugin"] if "--nbval" in mutant.tests else []
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *plugins, *mutant.tests.split()],
        cwd=project,
        env=env_of(project),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1, 2):  # 2: a file of tests that cannot even be read
        raise RuntimeError(f"{mutant.name}: pytest could not run\n{run.stdout}\n{run.stderr}")
    red = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.M)
    return red[1] if red else ("?" if run.returncode else None)


def verdicts(mutants: list[Mutant], workers: int) -> dict[str, str | None]:
    """Try the mutants, print who was caught by what, and return for each the test that caught it, or None."""

    def stretch(share: list[Mutant]) -> dict[str, str | None]:
        found = {}
        with copy_of_the_project() as project:
            for mutant in share:
                begun = time.monotonic()
                test = found[mutant.name] = caught_by(mutant, project)
                verdict, took = "killed" if test else "SURVIVED", time.monotonic() - begun
                print(f"{verdict:9} {mutant.name:42} {took:4.0f} s  {test or mutant.tests}", flush=True)
        return found

    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(stretch, [mutants[i::workers] for i in range(workers)])
        return {name: test for share in shares for name, test in share.items()}


def red_anyway(caught: Iterable[str]) -> str | None:
    """The first of the tests that caught a fault which is red without one, too; or None."""
    # A cell is asked for by its notebook, a name cut at a blank by its function; "06: a cell stops" is no test.
    tests = {re.sub(r"(?<=\.ipynb)::.*|\[[^]]*$", "", test) for test in caught}
    named = sorted(test for test in tests if "/" in test)
    wanted = ["--nbval"] if any(test.endswith(".ipynb") for test in named) else []
    with copy_of_the_project() as project:
        return red_test(Mutant("no fault", "", "", "", " ".join([*wanted, *named])), project) if named else None


def main() -> int:
    """Try all mutants, or those whose name holds a word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="")
    word = parser.parse_args().word
    chosen = [one for kind, faults in KINDS.items() for one in faults if word in one.name or word == kind]
    if not chosen:
        parser.error(f"no fault and no kind is called {word}")
    found = verdicts(chosen, workers=os.cpu_count() or 1)
    alive = [name for name, test in found.items() if not test]
    print(f"{len(chosen)} mutants, {len(chosen) - len(alive)} killed, {len(alive)} survived", flush=True)
    red = red_anyway(test for test in found.values() if test)
    if red:
        print(f"RED without any fault, so that it proves nothing: {red}")
    return int(bool(alive or red))


if __name__ == "__main__":
    sys.exit(main())
