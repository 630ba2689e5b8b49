"""A corpus on real workers: every document counts once, whatever dies, and the total is the same to the last digit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cluster import local
from corpus import WINDOW, Score, rows, run, summary

import lmhead
from lmhead.smollm import load_model

pytestmark = pytest.mark.timeout(600)  # whatever waits for a worker that never comes is red, and ends

HERE = Path(__file__).parent
TEXTS = {
    "animals/cat.txt": "The cat sat on the mat. Then it slept.",
    "animals/dog.txt": "A dog has four legs and one tail.",
    "chinese.txt": "日本的首都是东京。",
    "code.txt": "def f(x):\n    return x + 1\n",
    "empty.txt": "",
    "france.txt": "The capital of France is Paris.",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / name).write_text(text, "utf-8")
    return tmp_path / "texts"


def slow_length(data):
    """What stands in for the model where only the counting is tried: a loss with many digits."""
    import time

    time.sleep(0.2)
    return Score(len(data) / 3, len(data), len(data))


def many(folder, n=40):
    """A folder of n short texts, and their total."""
    folder.mkdir()
    for i in range(n):
        (folder / f"{i:02d}.txt").write_text("x" * (i + 1), "utf-8")
    return {f"{i:02d}.txt": Score((i + 1) / 3, i + 1, i + 1) for i in range(n)}


# ---- the numbers are those of one process


def test_the_command_gives_the_loss_of_the_real_model_and_resumes_with_nothing_to_do(folder, tmp_path):
    results = tmp_path / "rows.jsonl"
    command = [sys.executable, HERE / "corpus.py", folder, "--results", results, "--workers", "2"]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    model, expected = load_model(mapped=True), {}
    for name, text in TEXTS.items():
        ids = model.tokenizer.encode(text, "text")
        z = model.final_norm(model.hidden_states(ids)[-1]) @ model.W_U
        nats = lmhead.cross_entropy(z, lmhead.shift_targets(ids), reduction="sum")
        expected[name] = Score(float(nats), len(ids) - 1, len(text.encode()))
    got = {name: score for (name, _), score in rows(results).items()}
    assert got.keys() == expected.keys()
    for name, score in expected.items():
        assert got[name].tokens == score.tokens and got[name].bytes == score.bytes
        assert got[name].nats == pytest.approx(score.nats, rel=1e-12)
    assert first.stdout == summary(got) + "\n" and first.stdout.startswith("6 documents, ")
    written = results.read_text()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == first.stdout and results.read_text() == written
    for workers in ("1", "3"):
        other = [*command[:4], tmp_path / f"{workers}.jsonl", "--workers", workers]
        assert subprocess.run(other, capture_output=True, text=True, check=True).stdout == first.stdout


def test_a_long_document_is_read_in_windows():
    from corpus import score

    text = "The cat sat on the mat. Then it slept."
    model = load_model(mapped=True)
    separator, *ids = model.tokenizer.encode(text, "text")
    assert 7 < len(ids) <= 14 and model.config.context_length >= WINDOW
    nats = 0.0
    for part in (ids[:7], ids[7:]):
        window = np.array([separator, *part])
        z = model.final_norm(model.hidden_states(window)[-1]) @ model.W_U
        nats += float(lmhead.cross_entropy(z[:-1], window[1:], reduction="sum"))
    with local(1) as client:
        found = Score(*client.submit(score, text.encode(), window=8).result())
    assert (found.tokens, found.bytes) == (len(ids), len(text))
    assert found.nats == pytest.approx(nats, rel=1e-12)


# ---- whatever dies


def test_a_worker_is_killed(tmp_path):
    expected, results = many(tmp_path / "texts"), tmp_path / "rows.jsonl"
    with local(2) as client:
        threading.Timer(2, lambda: os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)).start()
        scored, failed = run(client, tmp_path / "texts", results, slow_length)
    assert scored == expected and not failed
    assert len(results.read_text().splitlines()) == len(expected)
    assert summary(scored) == summary(expected)


CLIENT = """
import sys; sys.path.insert(0, {here!r})
from pathlib import Path
from cluster import local
from corpus import Score, run

def slow_length(data):
    import time; time.sleep(.2); return Score(len(data) / 3, len(data), len(data))

if __name__ == "__main__":
    with local(2) as client: run(client, Path({folder!r}), Path({results!r}), slow_length)
"""


def test_the_client_is_killed_and_its_last_row_torn(tmp_path):
    expected, results, program = many(tmp_path / "texts"), tmp_path / "rows.jsonl", tmp_path / "client.py"
    program.write_text(CLIENT.format(here=str(HERE), folder=str(tmp_path / "texts"), results=str(results)))
    process = subprocess.Popen([sys.executable, program], stderr=subprocess.DEVNULL, start_new_session=True)
    while not results.exists() or len(results.read_text().splitlines()) < 10:
        time.sleep(0.05)
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    results.write_bytes(results.read_bytes()[:-7])
    before = rows(results)
    assert 5 < len(before) < len(expected)
    with local(2) as client:
        scored, failed = run(client, tmp_path / "texts", results, slow_length)
    assert scored == expected and not failed and summary(scored) == summary(expected)
    whole = [line for line in results.read_text().splitlines() if line.endswith("]")]
    assert len(whole) == len({json.loads(line)[0] for line in whole}) == len(expected)  # none was done twice


def test_what_kills_its_worker_or_is_no_text_is_named_and_the_others_count(tmp_path):
    def deadly(data):
        if data == b"x" * 7:
            os._exit(1)
        if data == b"x" * 9:
            b"\xff".decode()
        return slow_length(data)

    expected, results = many(tmp_path / "texts", 16), tmp_path / "rows.jsonl"
    with local(2) as client:
        scored, failed = run(client, tmp_path / "texts", results, deadly)
    assert {name: type(why).__name__ for name, why in failed.items()} == {
        "06.txt": "KilledWorker",
        "08.txt": "UnicodeDecodeError",
    }
    assert scored == {name: score for name, score in expected.items() if name not in failed}


def test_a_worker_that_dies_again_and_again_is_always_started_again(tmp_path):
    def deadly(data):
        if len(data) < 3:
            os._exit(1)
        return slow_length(data)

    many(tmp_path / "texts", 3)  # the first two kill the only worker for longer than the 15 s that Dask would wait
    with local(1) as client:
        scored, failed = run(client, tmp_path / "texts", tmp_path / "rows.jsonl", deadly)
    assert scored.keys() == {"02.txt"} and failed.keys() == {"00.txt", "01.txt"}


def test_a_document_that_was_changed_is_scored_anew_and_one_that_is_gone_does_not_count(tmp_path):
    many(tmp_path / "texts", 4)
    results = tmp_path / "rows.jsonl"
    with local(1) as client:
        run(client, tmp_path / "texts", results, slow_length)
        (tmp_path / "texts/02.txt").write_text("y" * 50)
        (tmp_path / "texts/03.txt").unlink()
        scored, _ = run(client, tmp_path / "texts", results, slow_length)
    assert [score.tokens for score in scored.values()] == [1, 2, 50]


# ---- what is said


def test_what_it_refuses(tmp_path, folder):
    def said(*arguments):
        return subprocess.run(
            [sys.executable, HERE / "corpus.py", *arguments], capture_output=True, text=True
        ).stderr.splitlines()[-1]

    (tmp_path / "nothing").mkdir()
    assert "no .txt file in" in said(tmp_path / "nothing", "--results", tmp_path / "rows.jsonl")
    import filelock

    with filelock.FileLock(tmp_path / "rows.jsonl.lock"):
        assert "is in use: another run writes" in said(folder, "--results", tmp_path / "rows.jsonl")


def test_the_help_says_how_to_reach_a_cluster():
    text = subprocess.run([sys.executable, HERE / "corpus.py", "--help"], capture_output=True, text=True).stdout
    for line in ("dask scheduler", "dask worker tcp://ADDRESS:8786", "--scheduler tcp://ADDRESS:8786", "DASK_CONFIG"):
        assert line in text


def test_over_two_hosts(two_hosts, folder, tmp_path):
    (folder / "france.txt").write_text("The capital of France is Paris. " * 4)
    over = two_hosts(HERE / "corpus.py", folder, "--results", tmp_path / "two.jsonl")
    assert over.returncode == 0, over.stderr
    here = [sys.executable, HERE / "corpus.py", folder, "--results", tmp_path / "one.jsonl", "--workers", "1"]
    assert over.stdout.splitlines()[0] + "\n" == subprocess.run(here, capture_output=True, text=True).stdout
    assert "bytes that left the first host" in over.stdout
