"""Every exercise as an assignment: its solution earns all points, its stub none, and nothing is given away."""

from __future__ import annotations

import ast
import zipfile
from pathlib import Path

import nbformat
import numpy as np
import pytest

from beyond.classroom import assignments, course, hidden
from beyond.classroom.conftest import Course
from lmhead import check
from lmhead.check.grading import exercise_of
from lmhead.check.run import examine
from tools.chapters import CHAPTERS

pytestmark = pytest.mark.filterwarnings("default")  # nbgrader's own

WITH_EXERCISES = [chapter for chapter in CHAPTERS if any(assignments.exercises_of(chapter))]
EXERCISES = [
    assignments.checked(stub)[0] for chapter in WITH_EXERCISES for _, stub, _ in assignments.exercises_of(chapter)
]


@pytest.fixture(scope="module")
def graded(a_course: Course, sandboxed: None) -> Course:
    """All chapters, each with the book's own answers and with none."""
    course.release([], hand_out=False)
    for chapter in WITH_EXERCISES:
        name = f"ch{chapter[:2]}"
        a_course.submit("right", name, a_course.solutions(name))
        a_course.submit("stub", name, {})
        course.grade(chapter[:2], archive=None)
    return a_course


def test_every_chapter_has_exercises() -> None:
    assert WITH_EXERCISES == CHAPTERS
    assert len(EXERCISES) == len(set(EXERCISES)) >= 2 * len(CHAPTERS)


@pytest.mark.parametrize("chapter", WITH_EXERCISES)
def test_the_solution_earns_all_and_the_stub_nothing(graded: Course, chapter: str) -> None:
    scores = graded.scores(f"ch{chapter[:2]}")
    assert scores.keys() == {"right", "stub"}
    points, most = scores["right"]
    assert points == most > 0
    assert scores["stub"] == (0.0, most)


@pytest.mark.parametrize("chapter", WITH_EXERCISES)
def test_what_students_get_gives_nothing_away(graded: Course, chapter: str) -> None:
    released = graded.notebook("release", f"ch{chapter[:2]}")
    text = nbformat.writes(released)
    for secret in ("SOLUTION", "HIDDEN", "share(", "most =", (graded.folder / "seed.txt").read_text().strip()):
        assert secret not in text
    for cell in released.cells:
        if cell.metadata.nbgrader.grade_id.startswith("answer-"):
            assert cell.source.split("\n", 1)[1].strip() == "...  # your code"
    questions = [cell.source for cell in released.cells if cell.cell_type == "markdown"]
    assert sum(question.count("<details>") for question in questions) >= 2
    assert not any(":::" in question or "}`" in question for question in questions)


@pytest.mark.parametrize("chapter", WITH_EXERCISES)
def test_there_is_nothing_to_look_at_where_nobody_deceived(graded: Course, chapter: str) -> None:
    assert graded.remarks(f"ch{chapter[:2]}") == {}


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("seed", [1, 20261201])
def test_hidden_cases_are_right_by_the_checker_and_new(name: str, seed: int) -> None:
    exercise = exercise_of(getattr(check, name))
    cases = hidden.hidden_cases(name, exercise, seed)
    assert name in hidden.DRAWN and len(cases) >= 3
    fresh = exercise._replace(kinds=[exercise.kinds[0]._replace(cases=cases, max_bytes=None)])
    result = examine(exercise.right, fresh)
    assert result.right, result.text
    assert hidden.literal(cases) != hidden.literal(hidden.hidden_cases(name, exercise, seed + 1))
    assert hidden.literal(cases) == hidden.literal(hidden.hidden_cases(name, exercise, seed))


@pytest.mark.parametrize("name", EXERCISES)
def test_hidden_cases_are_plain_numpy_and_tell_right_from_wrong(name: str) -> None:
    exercise = exercise_of(getattr(check, name))
    source = hidden.source_of(name, exercise, seed=7)
    assert "lmhead" not in source
    assert {node.names[0].name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)} == {"numpy"}
    scope: dict[str, object] = {}
    exec(source, scope)
    share = scope["share"]
    assert share(exercise.right) == 1.0
    assert share(lambda *arguments: None) < 1.0
    assert share(lambda *arguments: 1 / 0) == 0.0
    caught = [share(mistake.wrong) < 1.0 for mistake in exercise.mistakes]
    assert sum(caught) > len(caught) / 2, caught


def test_an_exercise_without_drawn_cases_gets_those_of_its_checker() -> None:
    assert "rank_of" not in hidden.DRAWN
    exercise = exercise_of(check.rank_of)
    assert len(hidden.hidden_cases("rank_of", exercise, 1)) == sum(len(kind.cases) for kind in exercise.kinds)


@pytest.mark.parametrize(
    "value", [np.array([[1, 2]]), np.array([True]), -np.inf, (1.5, None), [0.1, "é"], np.float64(2)]
)
def test_literals(value: object) -> None:
    np.testing.assert_equal(eval(hidden.literal(value), {"np": np}), value)


def test_a_checker_that_only_prints_makes_it_red(
    a_course: Course, graded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same pipeline with `check.xxx(f)` in place of what raises: no longer full for right, 0 for a stub."""
    monkeypatch.setattr(assignments, "TEST", "check.{name}({function})")
    course.release(["06"], hand_out=False)
    course.grade("06", archive=None)
    assert graded.scores("ch06") != {"right": (5.0, 5.0), "stub": (0.0, 5.0)}


def test_a_zip_of_a_learning_platform(tmp_path: Path, sandboxed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMHEAD_COURSE", str(tmp_path / "course"))
    course.release(["06"], hand_out=False)
    here = Course(tmp_path / "course")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path, answers in {
            "Ada Lovelace_1234_assignsubmission_file_/ch06.ipynb": here.solutions("ch06"),  # Moodle, in folders
            "Alan Turing_77_assignsubmission_file_ch06.ipynb": {},  # Moodle, without
            "hoppergrace_LATE_31_5678_ch06-1.ipynb": here.solutions("ch06"),  # Canvas
        }.items():
            here.submit("packed", "ch06", answers)
            packed = here.folder / "submitted" / "packed"
            archive.write(packed / "ch06" / "ch06.ipynb", path)
            for file in (packed / "ch06" / "ch06.ipynb", packed / "ch06", packed):
                file.rmdir() if file.is_dir() else file.unlink()
    course.grade("06", archive=tmp_path / "all.zip")
    assert here.scores("ch06") == {
        "Ada Lovelace_1234": (5.0, 5.0),
        "Alan Turing_77": (0.0, 5.0),
        "hoppergrace_LATE_31": (5.0, 5.0),
    }
