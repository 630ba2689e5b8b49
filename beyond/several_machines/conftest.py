"""Tests import the files beside them, as the programs do."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


@pytest.fixture
def two_hosts(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a program on two hosts of our own, each with a worker that knows nothing of this folder."""
    if not shutil.which("ip") or subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        pytest.skip("two hosts take network namespaces: Linux, root, and the package iproute2")

    def run(*command: str | Path) -> "subprocess.CompletedProcess[str]":
        start = ["bash", HERE / "two_hosts.sh", sys.executable, *command]
        return subprocess.run(start, cwd=tmp_path, capture_output=True, text=True)

    return run
