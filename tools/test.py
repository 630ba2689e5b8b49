"""Run the tests in one go, with one closing summary. Arguments go to pytest.

    python -m tools.test            all of them: `make test`
    python -m tools.test --quick    those that need no browser, model, kernel or new environment: `make quick`

Before all of them it gets what a fresh machine lacks, the real model and a browser. Where one cannot be had it says so
in a line and runs the rest; with CI set, that is a failure.
"""

import os
import subprocess
import sys

from tools.browser import get_browser
from tools.chapters import BOOK, ROOT, needs_model


def main() -> int:
    """Prepare, then hand over to pytest."""
    arguments = ["tests", "lmhead", "book", "README.md", "--doctest-modules", "--doctest-glob=README.md", "--nbval"]
    arguments += ["--ignore=book/_ext/live_python"]  # Python for the pages' own Python
    arguments += ["--dist", "loadscope", "--no-loadscope-reorder"]  # the groups: tests/conftest.py
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the workers share the cores
    cores = os.cpu_count() or 1
    if "--quick" in sys.argv:
        arguments += ["-n", str(min(4, cores))]
    else:
        arguments += ["-n", str(min(4, cores + 1)), "--durations=15"]  # a worker that drives a browser mostly waits
        model = subprocess.run([sys.executable, "-m", "lmhead", "--fetch"], cwd=ROOT, check=False).returncode == 0
        browser = get_browser() is not None
        if not model:
            print("No real model: the chapters and the tests that need it do not run.")
            arguments += [f"--ignore={path.relative_to(ROOT)}" for path in BOOK.rglob("*.ipynb") if needs_model(path)]
        if not browser:
            print("No browser: the tests that drive one do not run.")
        if os.environ.get("CI") and not (model and browser):
            print("With CI set that is a failure.")
            return 1
    return subprocess.run([sys.executable, "-m", "pytest", *arguments, *sys.argv[1:]], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
