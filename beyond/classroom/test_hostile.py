"""Submissions that try to deceive: each gets what its answers deserve, and the teacher is told."""

from __future__ import annotations

from typing import Any

import pytest

from beyond.classroom import course
from beyond.classroom.conftest import Course

pytestmark = pytest.mark.filterwarnings("default")  # nbgrader's own

RIGHT = "def my_cross_entropy(z, y):\n    return np.log(np.exp(z).sum()) - z[y]"
WRONG = "def my_cross_entropy(z, y):\n    return 0.0"
RESULT = "def my_cross_entropy(z, y):\n    get_ipython().displayhook(2.0)\n"
PATCHED = "lambda yours: print('Right: all 7 cases pass.')"


def edit_the_test(notebook: Any) -> None:
    (test,) = (cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == "test-cross_entropy")
    test.source, test.metadata.nbgrader.points = "2.0", 99


def delete_the_tests(notebook: Any) -> None:
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.nbgrader.grade_id.startswith("test-")]


# name -> the answer to the first exercise (2 points), the points that all deserves, what the teacher is told of it.
# The second exercise (3 points) is solved by all of them.
HOSTILE = {
    "calls-lmhead": (
        "import lmhead\ndef my_cross_entropy(z, y):\n    return lmhead.cross_entropy(z, y)",
        3,
        "your function calls lmhead.loss.cross_entropy",
    ),
    "patches-the-checker": (f"{WRONG}\ncheck.cross_entropy = {PATCHED}", 3, "grade takes a checker"),
    "patches-what-the-checker-asks": (
        f"{WRONG}\nimport lmhead.check.run\nlmhead.check.run.problem_with = lambda *_: None",
        0 + 3,
        "The checker passes it; the teacher's own cases: 0.0 of 2 points",
    ),
    "patches-the-grades": (
        f"{WRONG}\nimport lmhead.check.grading\nlmhead.check.grading.grade = lambda *_, points, **__: float(points)",
        3,
        "The checker passes it; the teacher's own cases: 0.0 of 2 points",
    ),
    "shows-a-result-of-its-own": (
        f"{RESULT}    return 0.0",
        3,
        "a cell that grades has one result; this one has",
    ),
    "keeps-the-result-from-being-shown": (
        f"{WRONG}\nget_ipython().display_formatter.format = lambda *_, **__: ({{}}, {{}})",
        0,
        "a cell that grades has one result; this one has 0",
    ),
    "runs-forever": (
        "def my_cross_entropy(z, y):\n    while True:\n        pass",
        3,
        "ran until its time was over",
    ),
    "kills-its-kernel": ("import os\nos._exit(0)", 0, "grading broke off"),
    "kills-its-kernel-with-a-result": (
        f"import os, time\n{RESULT}    time.sleep(0.5)\n    os._exit(0)",
        0,
        "grading broke off",
    ),
    "reads-the-gradebook": (
        f"{RIGHT}\nstolen = open(GRADEBOOK, 'rb').read()",
        5,
        "answer-cross_entropy: FileNotFoundError: [Errno 2] No such file or directory",
    ),
    "writes-the-gradebook": (f"{RIGHT}\nopen(GRADEBOOK, 'wb').write(b'')", 5, "FileNotFoundError"),
    "reaches-the-network": (
        f"{RIGHT}\nimport socket\nsocket.create_connection(('192.0.2.1', 80), 3)",
        5,
        "answer-cross_entropy: OSError: [Errno 101] Network is unreachable",
    ),
    "takes-all-memory": (f"{RIGHT}\nblob = b'x' * (6 << 30)", 5, "answer-cross_entropy: MemoryError"),
    "edits-the-test": (WRONG, 3, "test-cross_entropy: the locked cell was changed"),
    "deletes-the-tests": (RIGHT, 0, "test-cross_entropy: the cell was deleted"),
}
CHANGES = {"edits-the-test": edit_the_test, "deletes-the-tests": delete_the_tests}


@pytest.fixture(scope="module")
def graded(a_course: Course, sandboxed: None) -> Course:
    course.release(["06"], hand_out=False)
    solutions = a_course.solutions("ch06")
    gradebook = repr(str(a_course.folder / "gradebook.db"))
    for name, (answer, _, _) in HOSTILE.items():
        answers = {**solutions, "cross_entropy": answer.replace("GRADEBOOK", gradebook)}
        a_course.submit(name, "ch06", answers, CHANGES.get(name))
    a_course.submit("honest", "ch06", solutions)
    course.grade("06", archive=None)
    return a_course


@pytest.mark.parametrize("name", HOSTILE)
def test_it_gets_what_it_deserves(graded: Course, name: str) -> None:
    assert graded.scores("ch06")[name] == (HOSTILE[name][1], 5.0)


@pytest.mark.parametrize("name", HOSTILE)
def test_the_teacher_is_told(graded: Course, name: str) -> None:
    assert HOSTILE[name][2] in graded.remarks("ch06")[name]


def test_the_others_are_graded_as_ever(graded: Course) -> None:
    assert graded.scores("ch06")["honest"] == (5.0, 5.0)
    assert "honest" not in graded.remarks("ch06")


def test_feedback_does_not_show_the_hidden_cases(graded: Course) -> None:
    course.feedback("06", hand_back=False)
    source = {c.metadata.nbgrader.grade_id: c.source for c in graded.notebook("source", "ch06").cells}
    cases = [line.strip() for line in source["test-cross_entropy"].splitlines() if "((np.array(" in line]
    pages = sorted((graded.folder / "feedback").glob("*/ch06/ch06.html"))
    broken_off = {name for name, (_, _, told) in HOSTILE.items() if told == "grading broke off"}
    assert {page.parents[1].name for page in pages} == {"honest", *HOSTILE} - broken_off
    assert len(cases) >= 3
    for page in pages:
        text = page.read_text("utf-8")
        assert "Harder." in text
        for number in hashes(cases):
            assert number not in text, page


def hashes(cases: list[str]) -> list[str]:
    """The expected value at the end of each case: a number that stands nowhere else."""
    return [case.rstrip("),").rpartition(" ")[2] for case in cases]
