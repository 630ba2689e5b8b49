"""What files of requirements list."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement

from tools.chapters import ROOT


def required(file: str | Path) -> list[Requirement]:
    """The requirements in a file of the project, such as `requirements.in`; the package itself, `-e .`, is none."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text("utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]
