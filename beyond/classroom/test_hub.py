"""A round trip through a real hub: two students log in, fetch, write, submit; the teacher grades. As root, on Linux."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests
from jupyter_client import BlockingKernelClient

from beyond.classroom import demonstration
from beyond.classroom.demonstration import ROOT, SEEN_AS

pytestmark = pytest.mark.filterwarnings("default")

PASSWORD = "for-this-test-alone"
ANSWER = "def my_cross_entropy(z, y):\n    return np.log(np.exp(z).sum()) - z[y]"


class Hub(NamedTuple):
    """A hub that runs."""

    address: str
    state: Path
    pid: int

    def run_as(self, user: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command under one of its accounts, as in a terminal there."""
        inside = ["nsenter", "--target", str(self.pid), "--mount", "--", "runuser", "-u", user, "--", "env"]
        inside += [f"HOME={SEEN_AS}/homes/{user}", f"LMHEAD_EXCHANGE={SEEN_AS}/exchange"]
        return subprocess.run([*inside, *command], capture_output=True, text=True, check=False)


class Student:
    """One student at a browser, as far as the hub sees it."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.home, self.name, self.http = f"{hub.address}/user/{name}", name, requests.Session()
        self.hub = f"{hub.address}/hub"
        self.http.get(f"{self.hub}/login")
        xsrf = self.http.cookies.get("_xsrf", path="/hub/")
        form = {"username": name, "password": PASSWORD, "_xsrf": xsrf}
        self.http.post(f"{self.hub}/login", data=form).raise_for_status()

    def start(self) -> None:
        """Start the student's server, and wait for it."""
        self.http.get(f"{self.hub}/spawn/{self.name}")
        for _ in range(240):
            page = self.http.get(f"{self.home}/lab")  # by way of the hub, which sets the cookies
            if page.ok and page.url.partition("?")[0] == f"{self.home}/lab":
                return
            time.sleep(0.5)
        raise TimeoutError(f"{page.status_code} {page.url}")

    def ask(self, method: str, path: str, **content: Any) -> Any:
        """A request to the student's server; its JSON."""
        (xsrf,) = (c.value for c in self.http.cookies if c.name == "_xsrf" and c.path == f"/user/{self.name}/")
        answer = self.http.request(method, f"{self.home}/{path}", headers={"X-XSRFToken": str(xsrf)}, **content)
        answer.raise_for_status()
        return answer.json()

    def assignment(self, action: str) -> Any:
        """Fetch or submit, as the list of assignments does."""
        return self.ask("POST", f"assignments/{action}", data={"course_id": "lmhead", "assignment_id": "ch06"})

    def write(self, answer: str) -> None:
        """Put an answer into the first exercise."""
        path = "api/contents/ch06/ch06.ipynb"
        notebook = self.ask("GET", path)["content"]
        for cell in notebook["cells"]:
            if cell["metadata"]["nbgrader"]["grade_id"] == "answer-cross_entropy":
                cell["source"] = answer
        self.ask("PUT", path, json={"type": "notebook", "format": "json", "content": notebook})


def three_free_ports() -> int:
    """The first of three neighbouring ports that nobody uses."""
    for first in range(28000, 29000, 3):
        try:
            for port in range(first, first + 3):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise OSError("no free ports")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    if why := demonstration.missing():
        pytest.skip(why)
    state = tmp_path_factory.mktemp("class")
    address = f"http://127.0.0.1:{three_free_ports()}"
    settings = {"LMHEAD_ADDRESS": address, "LMHEAD_PASSWORD": PASSWORD, "LMHEAD_CLASS": str(state)}
    command = [sys.executable, "-m", "beyond.classroom.demonstration", "--without-model"]
    with (state / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **settings}, stdout=log, stderr=log)
    try:
        for _ in range(240):
            if "Open: " in (said := (state / "log").read_text()) or process.poll() is not None:
                break
            time.sleep(0.5)
        assert f"Open: {address}   users: teacher, student1, student2, student3" in said, said
        yield Hub(address, state, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(180)


@pytest.fixture(scope="module")
def handed_in(hub: Hub) -> Hub:
    """Chapter 6 handed out; one student has written an answer, the other has called lmhead."""
    released = hub.run_as("teacher", str(ROOT / "beyond/classroom/course"), "release", "06")
    assert released.stdout == "ch06: released\n", released.stderr
    for name, answer in {
        "student1": ANSWER,
        "student2": "from lmhead import cross_entropy as my_cross_entropy",
    }.items():
        student = Student(hub, name)
        student.start()
        assert student.assignment("fetch")["success"]
        student.write(answer)
        assert student.assignment("submit")["success"]
    return hub


def test_two_students_hand_in_and_are_graded(handed_in: Hub) -> None:
    graded = handed_in.run_as("teacher", str(ROOT / "beyond/classroom/course"), "grade", "06")
    assert "2 graded, 1 to look at" in graded.stdout, graded.stderr
    assert "your function calls lmhead.loss.cross_entropy" in graded.stdout
    with (handed_in.state / "homes/teacher/lmhead-course/grades.csv").open() as file:
        assert {row["student_id"]: row["score"] for row in csv.DictReader(file)} == {
            "student1": "2.0",
            "student2": "0.0",
        }
    returned = handed_in.run_as("teacher", str(ROOT / "beyond/classroom/course"), "feedback", "06")
    assert "one page for each student" in returned.stdout, returned.stderr


def test_students_are_accounts_that_cannot_read_each_other(handed_in: Hub) -> None:
    assert handed_in.run_as("student1", "ls", f"{SEEN_AS}/homes/student1/book").stdout.startswith("01_")
    for theirs in ("homes/student2", "homes/teacher/lmhead-course", "exchange/lmhead/inbound", "hub"):
        tried = handed_in.run_as("student1", "ls", f"{SEEN_AS}/{theirs}")
        assert tried.returncode and "Permission denied" in tried.stderr, theirs


def answers(kernel: dict[str, Any]) -> bool:
    """Whether a kernel speaks with whoever knows this of it."""
    client = BlockingKernelClient()
    client.load_connection_info(kernel)
    client.start_channels()
    try:
        client.wait_for_ready(timeout=20)
        return True
    except RuntimeError:
        return False
    finally:
        client.stop_channels()


def test_what_a_kernel_says_is_for_its_student_alone(hub: Hub) -> None:
    student = Student(hub, "student3")
    student.start()
    name = f"kernel-{student.ask('POST', 'api/kernels')['id']}.json"
    kernel = json.loads((hub.state / "homes/student3/.local/share/jupyter/runtime" / name).read_text())
    assert answers(kernel)
    assert not answers({what: value for what, value in kernel.items() if not what.startswith("curve_")})


def test_a_shared_cache_can_be_read_and_not_written(hub: Hub) -> None:
    (hub.state / "cache" / "file").write_text("shared")
    assert hub.run_as("student1", "cat", f"{SEEN_AS}/cache/file").stdout == "shared"
    assert hub.run_as("student1", "touch", f"{SEEN_AS}/cache/file").returncode


def test_whoever_has_no_password_stays_outside(hub: Hub) -> None:
    http = requests.Session()
    http.get(f"{hub.address}/hub/login")
    form = {"username": "student1", "password": "another", "_xsrf": http.cookies.get("_xsrf", path="/hub/")}
    assert "Invalid username or password" in http.post(f"{hub.address}/hub/login", data=form).text


def test_the_machine_s_own_accounts_stay_as_they_are(hub: Hub) -> None:
    assert f":{demonstration.FIRST_UID}:" not in Path("/etc/passwd").read_text()


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert demonstration.missing() == "make class needs root, to start servers under several accounts: sudo make class"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda program: None if program in ("node", "bwrap") else program)
    assert demonstration.missing() == "make class needs nodejs and bubblewrap: apt install nodejs bubblewrap"
