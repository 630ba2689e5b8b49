"""The code's own rules: ruff, its formatter, mypy --strict, and a core that stays small."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_clean(command):
    run = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def code_lines(source: str) -> int:
    """Lines that are neither blank nor comment nor docstring."""
    lines = {n for n, line in enumerate(source.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


CORE = ["_arguments", "_exact", "decoding", "head", "loss", "probabilities"]


@pytest.mark.parametrize(("names", "most"), [(CORE, 480), (["streaming"], 220)], ids=["core", "streaming"])
def test_the_core_stays_small(names, most):
    """A verb must earn its place: where one comes in, something else becomes shorter."""
    assert sum(code_lines((ROOT / f"lmhead/{name}.py").read_text("utf-8")) for name in names) <= most


def test_code_is_what_is_no_comment_and_no_docstring():
    assert (
        code_lines('"""Module."""\n\n# why\nx = 1\n\ndef f():\n    """Verb,\n\n    in lines."""\n    return x  # it\n')
        == 3
    )
