"""The kernel that grades: what runs in it sees neither the teacher's files nor the network.

It writes nowhere but into its own temporary folder, and holds 4 GiB at most.

nbgrader runs submissions as the teacher, whose gradebook they could read and change. So the kernel is started by
bubblewrap, in namespaces of its own, with the few folders that Python needs; it speaks with nbgrader over sockets in a
folder, since it has no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEMORY_KIB = 4 * 1024 * 1024
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


def bubblewrap(sockets: Path) -> list[str]:
    """The command that runs another one in the sandbox."""
    shown = [*SYSTEM, sys.base_prefix, sys.prefix, ROOT / "lmhead"]
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL"]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]
    for folder in shown:
        command += ["--ro-bind-try", str(folder), str(folder)]
    command += ["--bind", str(sockets), str(sockets), "--clearenv"]
    settings = {
        "HOME": "/tmp",  # empty, and the only folder that it can write to but that of its sockets
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),  # of which it sees lmhead alone
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "JUPYTER_RUNTIME_DIR": str(sockets),
        "NBGRADER_EXECUTION": "autograde",
    }
    for name, value in settings.items():
        command += ["--setenv", name, value]
    return command


def settings_of_nbgrader(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Make the kernel known in `folder`; the environment and the options with which nbgrader starts it."""
    sockets, kernel = folder / "sockets", folder / "kernels" / "python3"
    sockets.mkdir(mode=0o700)
    kernel.mkdir(parents=True)
    start = [*bubblewrap(sockets), sys.executable, "-m", "ipykernel_launcher", "-f"]
    limited = ["bash", "-c", f'ulimit -v {MEMORY_KIB} -c 0; exec "$@"', "limited", *start, "{connection_file}"]
    spec = {
        "argv": limited,
        "display_name": "Python 3",
        "language": "python",
        "interrupt_mode": "message",  # a signal would reach bubblewrap, which would die of it
    }
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    environment = {"JUPYTER_PATH": str(folder), "JUPYTER_RUNTIME_DIR": str(sockets)}
    environment["TMPDIR"] = str(sockets)  # where the file is written that tells the kernel its sockets
    return environment, ["--KernelManager.transport=ipc", f"--KernelManager.ip={sockets}/k"]


def missing(folder: Path) -> str | None:
    """Why there is no sandbox on this machine, in one line; None if there is one."""
    if shutil.which("bwrap") is None:
        return "grading needs bubblewrap, so that submissions cannot read your files: apt install bubblewrap"
    tried = subprocess.run([*bubblewrap(folder), "/bin/true"], capture_output=True, text=True, env=os.environ)
    if tried.returncode:
        return f"bubblewrap does not work on this machine: {tried.stderr.strip()}"
    return None
