"""What `make coverage` asks for."""

import pytest

from tools.coverage import Branches, shortfalls

CORE = {"lmhead/head.py"}


@pytest.mark.parametrize(
    ("head", "widgets", "lines"),
    [
        ((20, 20), (80, 76), 0),
        ((20, 19), (80, 80), 1),
        ((20, 20), (80, 74), 1),
        ((20, 19), (80, 70), 2),
        ((0, 0), (0, 0), 0),
    ],
)
def test_a_branch_of_the_core_that_does_not_run_is_a_failure(head, widgets, lines):
    files = {"lmhead/head.py": Branches(*head), "lmhead/widgets/_loss.py": Branches(*widgets)}
    assert len(shortfalls(files, CORE)) == lines
