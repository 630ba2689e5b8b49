"""Run every notebook in other surroundings, and print which stored outputs still hold.

    python -m tools.round             all surroundings (`make round`)
    python -m tools.round Python      those whose name holds "Python"

Threads, what BLAS and NumPy use of the processor, locale, time zone and hash seed change in the environment that is
there. Other versions of Python and of NumPy get an environment of their own in .venv-round, where that Python is at
hand; on a machine of tests (`CI`) each has to be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-round"
OLDEST_NUMPY = "2.0.*"  # as pyproject.toml says
NEWEST_NUMPY = ">=2"


class Surroundings(NamedTuple):
    """What differs from an ordinary run."""

    name: str
    variables: dict[str, str] = {}  # noqa: RUF012  a NamedTuple's default is never changed
    python: str = ""
    numpy: str = ""


ROUND = [
    Surroundings("as it is"),
    *(
        Surroundings(f"{n} BLAS thread(s)", {f"{lib}_NUM_THREADS": n for lib in ("OPENBLAS", "OMP")})
        for n in ("1", "2")
    ),
    *(Surroundings(f"BLAS of {core}", {"OPENBLAS_CORETYPE": core}) for core in ("Prescott", "Haswell")),
    Surroundings("NumPy without AVX", {"NPY_DISABLE_CPU_FEATURES": "X86_V3"}),
    *(Surroundings(f"locale {name}", {"LC_ALL": name, "LANG": name}) for name in ("C", "zh_CN.UTF-8")),
    Surroundings("time zone Pacific/Chatham", {"TZ": "Pacific/Chatham"}),
    *(Surroundings(f"hash seed {seed}", {"PYTHONHASHSEED": seed}) for seed in ("0", "1", "4242")),
    Surroundings("oldest NumPy", numpy=f"numpy=={OLDEST_NUMPY}"),
    Surroundings("newest NumPy", numpy=f"numpy{NEWEST_NUMPY}"),
    *(Surroundings(f"Python {version}", python=f"python{version}") for version in ("3.11", "3.12", "3.13")),
]


def environment(surroundings: Surroundings) -> str | None:
    """The Python to run: this one, or that of an environment made for these surroundings; None if it cannot be had."""
    if not surroundings.python and not surroundings.numpy:
        return sys.executable
    base = surroundings.python or sys.executable
    if not shutil.which(base) or subprocess.run([base, "--version"], capture_output=True, check=False).returncode:
        return None
    folder = ENVIRONMENTS / re.sub(r"\W+", "-", surroundings.name)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([base, "-m", "venv", folder], check=True)
    subprocess.run([*install, "-r", "requirements.txt"], cwd=ROOT, check=True)
    if surroundings.numpy:
        subprocess.run([*install, "--upgrade", surroundings.numpy], cwd=ROOT, check=True)
    return str(python)


def main() -> int:
    """Go round, and print a line each."""
    failed = 0
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [one for one in ROUND if word in one.name]
    if not chosen:
        raise SystemExit(f"no surroundings have {word} in their name")
    for surroundings in chosen:
        python = environment(surroundings)
        if python is None:
            failed += "CI" in os.environ
            print(f"{'not here':9} {surroundings.name}", flush=True)
            continue
        began = time.monotonic()
        run = subprocess.run(
            [
                python,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "--nbval",
                "book",
                "-n",
                "2",
                "--dist",
                "loadfile",
            ],
            cwd=ROOT,
            env={**os.environ, **surroundings.variables},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        red = re.findall(r"^(?:FAILED|ERROR) (.*)", run.stdout, re.M)
        failed += run.returncode != 0
        last = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr.strip()[-200:]
        print(
            f"{'RED' if run.returncode else 'holds':9} {surroundings.name:28} {time.monotonic() - began:4.0f} s  {last}"
        )
        print(*(f"          {test}" for test in red), sep="\n", end="\n" if red else "", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
