"""Which branches of `lmhead` its tests run: every one of the core, 95 in 100 of the package; fewer is a failure.

The core is what `import lmhead` loads. Kernels and other processes that the tests start are measured too: see
pyproject.toml.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.chapters import ROOT

TESTS = ["tests/package", "tests/book", "lmhead", "--doctest-modules", "--dist", "loadscope"]
CORE = "import lmhead, sys; print(*(m.__file__ for n, m in sys.modules.items() if n.partition('.')[0] == 'lmhead'))"


class Branches(NamedTuple):
    """How many branches there are, and how many ran."""

    there: int
    ran: int

    @property
    def percent(self) -> float:
        """Of those that are there; all, where there is none."""
        return 100 * self.ran / self.there if self.there else 100.0


def shortfalls(files: dict[str, Branches], core: set[str]) -> list[str]:
    """A line for each file of the core that lacks a branch, and one for the package if it lacks too many."""
    short = {name: b for name, b in files.items() if name in core and b.ran < b.there}
    lines = [f"{name}: {b.there - b.ran} of {b.there} branches do not run" for name, b in short.items()]
    whole = Branches(sum(b.there for b in files.values()), sum(b.ran for b in files.values()))
    return lines + ([f"lmhead: {whole.percent:.1f} % of the branches run; 95 % is asked for"] * (whole.percent < 95))


def main() -> int:
    """Run the tests of the package under coverage, and judge."""
    workers = str(min(4, os.cpu_count() or 1))
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "COVERAGE_FILE": f"{folder}/data"}
        run = [sys.executable, "-m", "coverage"]
        red = subprocess.run([*run, "run", "-m", "pytest", "-q", "-n", workers, *TESTS], cwd=ROOT, env=env).returncode
        subprocess.run([*run, "combine", "-q"], cwd=ROOT, env=env, check=True)
        subprocess.run([*run, "report", "--skip-covered", "--show-missing"], cwd=ROOT, env=env, check=True)
        subprocess.run([*run, "json", "-q", "-o", f"{folder}/json"], cwd=ROOT, env=env, check=True)
        found = json.loads(Path(folder, "json").read_text("utf-8"))["files"]
    loaded = subprocess.run([sys.executable, "-c", CORE], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    core = {Path(path).relative_to(ROOT).as_posix() for path in loaded.split()}
    sums = {Path(name).as_posix(): one["summary"] for name, one in found.items()}
    files = {name: Branches(one["num_branches"], one["covered_branches"]) for name, one in sums.items()}
    missing = shortfalls(files, core)
    print(*(missing or ["every branch of the core runs, and 95 % of the package or more"]), sep="\n")
    return int(bool(red or missing))


if __name__ == "__main__":
    sys.exit(main())
