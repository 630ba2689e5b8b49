"""What a teacher should look at before believing a mark: found in the submissions and in what came out of grading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import compute_checksum

from beyond.classroom.assignments import DOUBT


def remarks_on(course: Path, name: str) -> list[tuple[str, str]]:
    """Pairs (student, remark) on all submissions of an assignment."""
    released = by_id(course / "release" / name / f"{name}.ipynb")
    found = []
    for folder in sorted((course / "submitted").glob(f"*/{name}")):
        student = folder.parent.name
        found += [(student, remark) for remark in on_one(course, student, name, released)]
    return found


def on_one(course: Path, student: str, name: str, released: dict[str, Any]) -> Iterator[str]:
    """The remarks on one submission."""
    try:
        submitted = by_id(course / "submitted" / student / name / f"{name}.ipynb")
    except Exception as error:  # whatever a student can write into a file
        yield f"the notebook cannot be read: {type(error).__name__}"
        return
    yield from changed_cells(submitted, released)
    graded = course / "autograded" / student / name / f"{name}.ipynb"
    if not graded.exists():
        yield f"grading broke off, nothing new was earned: the answer ended its kernel, or see autograde-{name}.log"
        return
    for grade_id, cell in by_id(graded).items():
        yield from what_came_out(grade_id, cell)


def by_id(path: Path) -> dict[str, Any]:
    """A notebook's cells by nbgrader's names; those without one are left out."""
    cells = nbformat.read(path, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells if "grade_id" in cell.metadata.get("nbgrader", {})}


def changed_cells(submitted: dict[str, Any], released: dict[str, Any]) -> Iterator[str]:
    """Locked cells that are gone or no longer what they were; nbgrader grades with the teacher's own."""
    for grade_id, cell in released.items():
        if not cell.metadata.nbgrader.locked:
            continue
        if grade_id not in submitted:
            yield f"{grade_id}: the cell was deleted"
        elif compute_checksum(submitted[grade_id]) != compute_checksum(cell):
            yield f"{grade_id}: the locked cell was changed; graded was the teacher's own"


def what_came_out(grade_id: str, cell: Any) -> Iterator[str]:
    """Errors in an answer; in a test whatever is not simply right or wrong."""
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            said = f"{output.ename}: {output.evalue}".splitlines()[0]
            if output.ename == "CellTimeoutError":
                yield f"{grade_id}: ran until its time was over"
            elif not cell.metadata.nbgrader.grade or output.ename != "NotRightError" or "write it yourself" in said:
                yield f"{grade_id}: {said}"
        elif output.output_type == "stream" and DOUBT in output.text and cell.metadata.nbgrader.grade:
            yield f"{grade_id}: {output.text[output.text.index(DOUBT) :].splitlines()[0]}"
