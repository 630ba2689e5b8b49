"""`make class`: the whole class on this machine, for a teacher to look at. As root, on Linux.

It makes demonstration users in a mount namespace of their own: /etc, /srv and what hides this folder from other users
are copies or covers that only the hub and its children see, and that are gone when it ends. What teacher and students
write stays in `_build/class`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from beyond.classroom import sandbox

ROOT = Path(__file__).resolve().parents[2]
STATE = Path(os.environ.get("LMHEAD_CLASS", ROOT / "_build" / "class"))
SEEN_AS = Path("/srv/lmhead")  # where the hub has it
PROXY = ROOT / ".venv-classroom" / "proxy"
STUDENTS = ("student1", "student2", "student3")
USERS = ("teacher", *STUDENTS)
FIRST_UID = 52001
ADDRESS = os.environ.get("LMHEAD_ADDRESS", "http://127.0.0.1:8000")


def missing() -> str | None:
    """What this machine lacks, in one line."""
    if not sys.platform.startswith("linux"):
        return "make class needs Linux"
    if os.geteuid() != 0:
        return "make class needs root, to start servers under several accounts: sudo make class"
    needed = {"node": "nodejs", "npm": "npm", "bwrap": "bubblewrap", "unshare": "util-linux", "useradd": "passwd"}
    lacking = [package for program, package in needed.items() if shutil.which(program) is None]
    if lacking:
        return f"make class needs {' and '.join(lacking)}: apt install {' '.join(lacking)}"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").partition(".")[0]) < 20:
        return f"make class needs Node 20 or later; this is {version.strip()}"
    return sandbox.missing(Path("/tmp"))


def prepare() -> None:
    """The proxy, and the folders."""
    if not (PROXY / "node_modules").exists():
        PROXY.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).with_name("package.json"), PROXY)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=PROXY, check=True)
    for name in ("hub", "homes", "exchange", "cache"):
        (STATE / name).mkdir(parents=True, exist_ok=True)
    for folder, mode in ((STATE, 0o755), (STATE / "homes", 0o755), (STATE / "cache", 0o755), (STATE / "hub", 0o700)):
        folder.chmod(mode)
    (STATE / "exchange").chmod(0o777)  # as nbgrader asks: whoever hands in writes there


def fetch_model() -> None:
    """The model's weights in the file that all students map."""
    make = "from lmhead.smollm import load_model; load_model(mapped=True)"
    environment = {**os.environ, "LMHEAD_CACHE": str(STATE / "cache")}
    if subprocess.run([sys.executable, "-c", make], env=environment, check=False).returncode:
        print("Without the model: chapter 12 will say that it cannot be fetched.")


def run(*command: str | Path, **options: Any) -> None:
    """Run a program that has to succeed."""
    subprocess.run([str(word) for word in command], check=True, text=True, **options)


def enter() -> None:
    """Inside the mount namespace: users of our own, this folder and this Python where every user can read them."""
    needed = [ROOT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()]
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/mnt")
    for number, path in enumerate(needed):
        Path(f"/mnt/{number}").mkdir()
        run("mount", "--rbind", path, f"/mnt/{number}")
    for path in needed:
        for ancestor in reversed(path.parents):
            if ancestor.exists() and not ancestor.stat().st_mode & 0o001:
                run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", ancestor)
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", SEEN_AS.parent)
    for number, path in enumerate(needed):
        if not any(path.iterdir() if path.exists() else ()):
            path.mkdir(parents=True, exist_ok=True)
            run("mount", "--rbind", f"/mnt/{number}", path)
    SEEN_AS.mkdir()
    run("mount", "--bind", STATE, SEEN_AS)
    Path("/mnt/etc").mkdir()
    run("cp", "-a", "/etc/.", "/mnt/etc")
    run("mount", "--bind", "/mnt/etc", "/etc")


def add_users(password: str) -> None:
    """The demonstration's users, each with a home."""
    for uid, name in enumerate(USERS, FIRST_UID):
        home = SEEN_AS / "homes" / name
        run("useradd", "--uid", str(uid), "--home-dir", home, "--no-create-home", "--shell", "/bin/bash", name)
        if not home.exists():
            home.mkdir(mode=0o700)
            os.chown(home, uid, uid)
    run("chpasswd", input="".join(f"{name}:{password}\n" for name in USERS))


def serve() -> int:
    """Start the hub, say how to log in, and wait for its end."""
    enter()
    password = os.environ.get("LMHEAD_PASSWORD") or secrets.token_hex(4)
    add_users(password)
    environment = {**os.environ, "LMHEAD_CLASS": str(SEEN_AS), "LMHEAD_TEACHERS": "teacher"}
    hub = [str(ROOT / ".venv-classroom/bin/jupyterhub"), "-f", str(Path(__file__).with_name("jupyterhub_config.py"))]
    with (STATE / "hub" / "hub.log").open("w") as log:
        process = subprocess.Popen(hub, env=environment, stdout=log, stderr=log, cwd=SEEN_AS / "hub")
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while process.poll() is None and not answers():
            time.sleep(0.5)
        if process.poll() is None:
            print(f"Open: {ADDRESS}   users: {', '.join(USERS)}   password: {password}   Ctrl-C ends it.", flush=True)
        process.wait()
    except KeyboardInterrupt:
        process.wait()
    if process.returncode not in (0, -signal.SIGINT, -signal.SIGTERM):
        print(f"the hub ended: see {STATE / 'hub' / 'hub.log'}")
    return process.returncode


def answers() -> bool:
    """Whether the hub shows its page."""
    try:
        return urllib.request.urlopen(f"{ADDRESS}/hub/login", timeout=5).status == 200
    except OSError:
        return False


def main() -> int:
    """From `make class`: check, prepare, and go into the namespace; there, serve."""
    if "--inside" in sys.argv:
        return serve()
    if why := missing():
        print(why, file=sys.stderr)
        return 1
    prepare()
    if "--without-model" not in sys.argv:
        fetch_model()
    inside = [sys.executable, "-m", "beyond.classroom.demonstration", "--inside"]
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", *inside])


if __name__ == "__main__":
    sys.exit(main())
