"""Three students with the real model at once: what each holds alone, and that all compute the same."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from lmhead.fetch import FetchError
from lmhead.smollm import load_model
from lmhead.smollm.model import fetch_model

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says what a process holds alone"),
]

MOST_MIB = 250
TEXT = "The cat sat on the mat, and then the other cat said: no."
STUDENT = f"""
import hashlib, sys
from lmhead.smollm import load_model
model = load_model()
logits = model.logits(model.tokenizer.encode({TEXT!r}))
print(hashlib.sha256(logits.tobytes()).hexdigest(), flush=True)
sys.stdin.read()
"""


class Student(NamedTuple):
    """One process that has used the model and is still there."""

    process: subprocess.Popen[str]
    logits: str

    def mib(self, kind: str) -> float:
        """The memory of a kind, such as `Private` or `Shared`."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return sum(map(int, re.findall(rf"^{kind}_\w+: +(\d+) kB", rollup, re.M))) / 1024


@pytest.fixture(scope="module")
def own_logits() -> str:
    """What a model with weights of its own computes."""
    try:
        fetch_model()
    except FetchError as error:
        pytest.skip(f"without the real model: {error}")
    model = load_model(mapped=False)
    return hashlib.sha256(model.logits(model.tokenizer.encode(TEXT)).tobytes()).hexdigest()


@pytest.fixture(scope="module")
def students(own_logits: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Student]]:
    cache = tmp_path_factory.mktemp("cache")
    os.symlink(fetch_model(), cache / fetch_model().name)
    environment = {**os.environ, "LMHEAD_CACHE": str(cache)}
    make = "from lmhead.smollm import load_model; load_model(mapped=True)"
    subprocess.run([sys.executable, "-c", make], env=environment, check=True)
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", STUDENT], env=environment, stdin=pipe, stdout=pipe, text=True)
        for _ in range(3)
    ]
    yield [Student(process, process.stdout.readline().strip()) for process in processes if process.stdout]
    for process in processes:
        process.communicate("")


def test_each_holds_little_alone(students: list[Student]) -> None:
    assert len(students) == 3
    for student in students:
        assert student.mib("Shared") > 1000, "the weights are not shared"
        assert student.mib("Private") < MOST_MIB


def test_all_compute_the_same_to_the_last_digit(students: list[Student], own_logits: str) -> None:
    assert {student.logits for student in students} == {own_logits}
