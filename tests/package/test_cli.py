"""`python -m lmhead`: what it prints, and what it says when it cannot."""

import io
import os
import re
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lmhead import __main__ as cli
from lmhead import cross_entropy, softmax
from lmhead.fetch import NoNetworkError
from lmhead.smollm import SmolLM, load_fixture
from tests.support.memory import peak_of


@pytest.fixture
def model(real_model: SmolLM, monkeypatch: pytest.MonkeyPatch) -> SmolLM:
    """The model that the tests share stands in for the one that the command would load."""
    monkeypatch.setattr(cli, "load_model", lambda: real_model)
    return real_model


def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "lmhead", *arguments], capture_output=True, text=True, env=os.environ | environment
    )


IN_A_CHAT = "Before the text stands the opening of a chat; the text is in the user's turn."


@pytest.mark.parametrize(
    ("start", "line", "likeliest", "mean"),
    [
        ([], "Before the text stands <|endoftext|>, as at the beginning of", '  18.7283       0.3250  " mat"', 5),
        (["--start", "text"], "Before the text stands <|endoftext|>, as at", '  18.7283       0.3250  " mat"', 5),
        (["--start=none"], "Nothing stands before the text.", '  12.8334       0.0713  " cat"', 4),
        (["--start=chat"], IN_A_CHAT, '  16.3871       0.1666  " mat"', 5),
    ],
)
def test_the_ten_likeliest_and_the_costs(
    model: SmolLM, capsys: pytest.CaptureFixture[str], start: list[str], line: str, likeliest: str, mean: int
) -> None:
    assert cli.main([*start, "The cat sat on the"]) == 0
    printed, complaints = capsys.readouterr()
    assert complaints == ""
    assert printed.startswith(line)

    fixture = load_fixture()
    cat = fixture.prompt("The cat sat on the", start[-1].removeprefix("--start=") if start else "text")
    costs = cross_entropy(cat.logits, cat.targets, reduction="none")[:-1]
    rows = [f'{cost:9.4f}  "{token}"' for cost, token in zip(costs, cat.tokens[1:], strict=True)]
    first = [] if cat.before else ['        -  "The"']
    last = f"{costs.mean():9.4f}  mean of {mean}; perplexity {np.exp(costs.mean()):.4f}"
    assert printed.splitlines()[4:-14] == [*first, *rows, last]

    p = softmax(cat.logits[-1])
    ten = (-cat.logits[-1, :-1]).argsort()[:10]
    rows = [f'{cat.logits[-1, i]:9.4f}  {p[i]:11.4f}  "{fixture.tokens[i]}"' for i in ten]
    assert rows[0] == likeliest
    assert printed.splitlines()[-10:] == rows


@pytest.mark.parametrize("start", ["text", "none", "chat"])
def test_a_prompt_that_brings_its_own_start(model: SmolLM, capsys: pytest.CaptureFixture[str], start: str) -> None:
    assert cli.main(["<|endoftext|>The cat sat on the", "--start", start]) == 0
    own = capsys.readouterr().out
    assert own.startswith("Nothing" if start == "none" else "The text begins with a start of its own; no other is put")
    assert '        -  "<|endoftext|>"\n' in own
    cli.main(["The cat sat on the"])
    given = capsys.readouterr().out
    assert own.splitlines()[-10:] == given.splitlines()[-10:]  # as if it had been put there


def test_a_start_that_there_is_not() -> None:
    done = run("--start", "bos", "The")
    assert (done.returncode, done.stdout) == (2, "")
    assert "invalid choice: 'bos'" in done.stderr


def test_words_without_quotation_marks(model: SmolLM, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["Once", "upon", "a", "time"])
    apart = capsys.readouterr().out
    cli.main(["Once upon a time"])
    assert apart == capsys.readouterr().out


def test_one_token_has_no_cost(model: SmolLM, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--start=none", "The"]) == 0
    printed = capsys.readouterr().out
    assert '        -  "The"\n' in printed
    assert "mean" not in printed


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_a_console_that_lacks_characters(model: SmolLM, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", console)
    assert cli.main(["日本\n🙂"]) == 0
    console.flush()
    printed = console.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert r'"\xe6\x97"' in printed  # a part of a character, whatever the console
    assert r'"\n"' in printed
    assert (r'"\u672c"' if encoding != "utf-8" else '"本"') in printed


def test_a_prompt_that_is_too_long(
    model: SmolLM, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short_sighted = replace(model, config=model.config._replace(context_length=4))
    monkeypatch.setattr(cli, "load_model", lambda: short_sighted)
    assert cli.main(["The cat sat on the"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "lmhead: the prompt has 6 tokens, 1 of them before it; the model reads at most 4\n"
    assert cli.main(["The cat sat on the", "--start=none"]) == 2
    assert capsys.readouterr().err == "lmhead: the prompt has 5 tokens; the model reads at most 4\n"


def test_a_prompt_that_just_fits(
    model: SmolLM, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "load_model", lambda: replace(model, config=model.config._replace(context_length=6)))
    assert cli.main(["The cat sat on the"]) == 0
    assert capsys.readouterr().err == ""


def test_a_long_wait_is_announced_beside_the_answer(
    model: SmolLM, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "SLOW", 4)
    assert cli.main(["The cat sat on the"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "reading 6 tokens, which takes a while ...\n"
    assert printed.out.startswith("Before the text")


def test_costs_do_not_depend_on_how_they_are_cut(model: SmolLM) -> None:
    ids = model.tokenizer.encode("The cat sat on the")
    h = model.final_norm(model.hidden_states(ids)[-1])
    whole = cli.prompt_costs(model, h, ids)
    assert abs(cli.prompt_costs(model, h, ids, rows=3) - whole).max() < 1e-12
    assert whole.shape == (4,)


def test_a_long_prompt_takes_no_more_memory_than_a_short_one() -> None:
    """The logits of 8192 tokens would be 3.2 GB in float64, where the whole command is to take 1.5."""
    vocab, ids = 4096, np.zeros(2049, np.int64)
    h, small = np.zeros((len(ids), 1)), SimpleNamespace(W_U=np.zeros((1, vocab)))
    short, long = (peak_of(partial(cli.prompt_costs, small, h[:n], ids[:n])) for n in (257, len(ids)))
    assert long < 1.1 * short and short * 49_152 / vocab < 0.5e9


def test_bytes_that_are_no_text(model: SmolLM, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["caf\udce9"]) == 2
    assert capsys.readouterr().err == (
        "lmhead: character 3 of the text, '\\udce9', is not Unicode: was it read in the wrong encoding?\n"
    )


@pytest.mark.parametrize("arguments", [[], [""]])
def test_an_empty_prompt(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ('lmhead: the prompt is empty; try python -m lmhead "The cat sat on the"\n')


def test_help_shows_an_example() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert 'example: python -m lmhead "The cat sat on the"' in done.stdout
    assert "93 MB" in done.stdout


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run("hello", LMHEAD_CACHE=str(tmp_path / "file" / "cache"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lmhead: cannot use ")
    assert len(done.stderr.splitlines()) == 1


def no_network() -> SmolLM:
    raise NoNetworkError("cannot download the model: is there a network?")


def no_gguf() -> SmolLM:
    raise ModuleNotFoundError("No module named 'gguf'", name="gguf")


def interrupt() -> SmolLM:
    raise KeyboardInterrupt


def no_memory() -> SmolLM:
    raise MemoryError


@pytest.mark.parametrize(
    ("load", "code", "line"),
    [
        (no_network, 1, "lmhead: cannot download the model: is there a network?\n"),
        (no_gguf, 1, "lmhead: the real model needs gguf: pip install 'lmhead[model]'\n"),
        (interrupt, 130, "lmhead: interrupted\n"),
        (no_memory, 1, "lmhead: not enough memory: the model needs about 1.5 GB\n"),
    ],
)
def test_a_model_that_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], load: object, code: int, line: str
) -> None:
    monkeypatch.setattr(cli, "load_model", load)
    assert cli.main(["hello"]) == code
    assert capsys.readouterr() == ("", line)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("sent", "code", "line"), [(signal.SIGINT, 130, b"lmhead: interrupted\n"), (signal.SIGTERM, 143, b"")]
)
def test_a_signal_while_pip_downloads(tmp_path: Path, sent: signal.Signals, code: int, line: bytes) -> None:
    """An index that takes the request and never answers; it sees that pip, too, has ended."""
    env = {name: value for name, value in os.environ.items() if not re.match("pip_|.*_proxy", name, re.I)}
    with socket.create_server(("127.0.0.1", 0)) as index:
        index.settimeout(60)
        env |= {"PIP_INDEX_URL": f"http://127.0.0.1:{index.getsockname()[1]}/simple", "PIP_CONFIG_FILE": os.devnull}
        command = subprocess.Popen(
            [sys.executable, "-m", "lmhead", "--fetch"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**env, "LMHEAD_CACHE": str(tmp_path)},
            preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),  # what runs in a shell's background ignores Ctrl-C
        )
        try:
            pip, _ = index.accept()
            command.send_signal(sent)
            assert (*command.communicate(timeout=60), command.returncode) == (b"", line, code)
        finally:
            command.kill()
            command.communicate()
        with pip:
            pip.settimeout(10)
            while pip.recv(2**16):  # what it had asked; then the end, or pip is still there
                pass
    assert [file.name for file in tmp_path.rglob("*") if file.suffix != ".lock"] == []


def test_fetch_says_where_the_model_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(cli, "fetch_model", lambda: tmp_path / "model.gguf")
    assert cli.main(["--fetch"]) == 0
    assert capsys.readouterr() == (f"{tmp_path / 'model.gguf'}\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")
def test_a_reader_that_has_read_enough() -> None:
    """As in `python -m lmhead ... | head -1`, with and without a buffer on the way."""
    for unbuffered in ("", "1"):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-m", "lmhead", "--fetch"],
            stdout=write,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
        os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_an_answer_that_cannot_be_written() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "lmhead", "--fetch"], stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, b"lmhead: cannot write the answer: No space left on device\n")
