"""The head in shards on real processes: one machine's numbers, whatever the cut, and also when a worker is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cases import CUTS, N, assert_same, cases, field, shard
from cluster import local
from on_dask import step

pytestmark = pytest.mark.timeout(600)

HERE = Path(__file__).parent
MPIEXEC = Path(sys.executable).with_name("mpiexec")
ALONE = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def client():
    with local(2) as client:
        yield client


@pytest.mark.parametrize("name", cases())
def test_on_dask(client, name):
    case = cases()[name]
    made = [client.submit(shard, name, i, pure=False) for i in range(len(case.starts))]
    done = step(client, made, *(client.submit(field, name, key, pure=False) for key in ("h", "targets")))
    pushed = client.gather(done.pushed)
    dW_U, db = (np.concatenate([push[i] for push in pushed], axis=-1) for i in (1, 2))
    assert_same(case, done.loss.result(), done.dh.result(), dW_U, db)
    messages = client.gather(done.messages)
    assert [(message.shape, message.dtype) for message in messages] == [((3, N), np.float64)] * len(case.starts)


@pytest.mark.parametrize("size", range(1, len(CUTS) + 1))
def test_over_mpi(size):
    run = subprocess.run(
        [MPIEXEC, "-n", str(size), sys.executable, "cases.py"], cwd=HERE, env=ALONE, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [name for name, case in cases().items() if len(case.starts) == size]


def test_over_mpi_in_few_lines():
    code = (HERE / "over_mpi.py").read_text("utf-8").splitlines()
    assert len([line for line in code if line.strip() and not line.lstrip().startswith(("#", '"""'))]) <= 30


def test_a_worker_is_killed_in_the_middle_of_a_step():
    def slowly(make, *arguments):
        time.sleep(2)
        return make(*arguments)

    name = "ignored targets, 3 shards"
    with local(2) as client:
        pids = client.run(os.getpid)
        made = [client.submit(slowly, shard, name, i, pure=False) for i in range(3)]
        h, targets = (client.submit(field, name, key, pure=False) for key in ("h", "targets"))
        made[0].exception()
        done = step(client, made, h, targets)
        (holder, *_), *_ = client.who_has(made[:1]).values()
        os.kill(pids[holder], signal.SIGKILL)  # with the shard that it has already made
        pushed = client.gather(done.pushed)
        dW_U, db = (np.concatenate([push[i] for push in pushed], axis=-1) for i in (1, 2))
        assert_same(cases()[name], done.loss.result(), done.dh.result(), dW_U, db)
        assert pids[holder] not in client.run(os.getpid).values()


def test_the_example_over_two_hosts(two_hosts):
    over = two_hosts(HERE / "on_dask.py")
    assert over.returncode == 0, over.stderr
    assert over.stdout.startswith("2 workers: ")
    off = [float(number) for number in re.findall(r"\d+e[+-]\d+", over.stdout)]
    assert len(off) == 3 and max(off) < 1e-12
