"""Run every test in one go, with one closing summary: what `make test` does. Arguments go to pytest.

First it gets what a fresh machine lacks, the real model and a browser. Where one cannot be had it says so in a line and
runs the rest; with CI set, that is a failure.
"""

import os
import subprocess
import sys
from pathlib import Path

from tools.browser import get_browser

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Prepare, then hand over to pytest."""
    model = subprocess.run([sys.executable, "-m", "lmhead", "--fetch"], cwd=ROOT, check=False).returncode == 0
    browser = get_browser() is not None
    arguments = ["tests", "lmhead", "book", "README.md", "--doctest-modules", "--doctest-glob=README.md", "--nbval"]
    arguments += ["--durations=15"]
    workers = str(min(4, (os.cpu_count() or 1) + 1))  # one more than cores: a worker that drives a browser mostly waits
    arguments += ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]  # see tests/conftest.py
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers share the cores
    if not model:
        print("No real model: chapter 09 and the tests that need it do not run.")
        arguments.append("--ignore=book/09_a_real_head.ipynb")
    if not browser:
        print("No browser: the tests of tests/site/test_browser.py do not run.")
    if os.environ.get("CI") and not (model and browser):
        print("With CI set that is a failure.")
        return 1
    return subprocess.run([sys.executable, "-m", "pytest", *arguments, *sys.argv[1:]], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
