"""A course in a folder of its own for the tests, and submissions to it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from beyond.classroom import course

Answers = Mapping[str, str]  # an answer cell's source by the name of its exercise


class Course:
    """A teacher's folder, and what the tests do with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def notebook(self, version: str, name: str) -> Any:
        """An assignment as the teacher has it ("source"), or as students get it ("release")."""
        return nbformat.read(self.folder / version / name / f"{name}.ipynb", as_version=4)

    def submit(self, student: str, name: str, answers: Answers, change: Callable[[Any], None] | None = None) -> None:
        """What a student hands in who writes these answers; `change` may do something else to the notebook."""
        notebook = self.notebook("release", name)
        for cell in notebook.cells:
            grade_id = cell.metadata.nbgrader.grade_id
            if grade_id.startswith("answer-"):
                cell.source = answers.get(grade_id.removeprefix("answer-"), cell.source)
        if change:
            change(notebook)
        folder = self.folder / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")

    def solutions(self, name: str) -> Answers:
        """The book's own answers."""
        cells = {cell.metadata.nbgrader.grade_id: cell.source for cell in self.notebook("source", name).cells}
        marks = ("### BEGIN SOLUTION", "### END SOLUTION")
        return {
            grade_id.removeprefix("answer-"): "\n".join(
                line for line in source.splitlines() if line.strip() not in marks
            )
            for grade_id, source in cells.items()
            if grade_id.startswith("answer-")
        }

    def scores(self, name: str) -> dict[str, tuple[float, float]]:
        """Each student's points, and the most that there are."""
        rows = [row for row in rows_of(self.folder / "grades.csv") if row["assignment"] == name]
        return {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in rows}

    def remarks(self, name: str) -> dict[str, str]:
        """What the teacher is told of each student, in one text."""
        found: dict[str, str] = {}
        for row in rows_of(self.folder / f"remarks-{name}.csv"):
            found[row["student_id"]] = found.get(row["student_id"], "") + row["remark"] + "\n"
        return found


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def a_course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A course without a hub: what is handed in lies in its folder."""
    folder = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMHEAD_COURSE", str(folder))
        patch.setenv("LMHEAD_EXCHANGE", str(folder / "exchange"))
        yield Course(folder)


@pytest.fixture(scope="module")
def sandboxed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A machine on which submissions can be graded; where none is, a skip that says why."""
    if why := course.sandbox.missing(tmp_path_factory.mktemp("sandbox")):
        pytest.skip(why)
