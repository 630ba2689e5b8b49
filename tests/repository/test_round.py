"""The round: every notebook in each of the surroundings, and a line that says so."""

from types import SimpleNamespace

import pytest

from tools import round as going_round


@pytest.fixture
def runs(monkeypatch):
    """What it would have run; pytest finds all well."""
    begun = []

    def run(command, env=None, **_):
        begun.append((list(map(str, command)), env))
        return SimpleNamespace(returncode=0, stdout="14 passed", stderr="")

    monkeypatch.setattr(going_round.subprocess, "run", run)
    monkeypatch.setattr("sys.argv", ["round"])
    monkeypatch.delenv("CI", raising=False)
    return begun


def test_each_runs_every_notebook_in_its_own_surroundings(runs, monkeypatch):
    monkeypatch.setattr(going_round, "environment", lambda surroundings: f"the Python of {surroundings.name}")
    assert going_round.main() == 0
    assert [command[0] for command, _ in runs] == [f"the Python of {one.name}" for one in going_round.ROUND]
    for (command, env), one in zip(runs, going_round.ROUND, strict=True):
        assert command[1:3] == ["-m", "pytest"] and command[command.index("--nbval") + 1] == "book"
        assert not {"-k", "-m", "--ignore", "--deselect"} & set(command[3:]), "none is left out"
        assert env.items() >= one.variables.items()
    variables = [tuple(one.variables.items()) for one in going_round.ROUND if one.variables]
    assert len(set(variables)) == len(variables) >= 10


@pytest.mark.parametrize("surroundings", [one for one in going_round.ROUND if one.python or one.numpy])
def test_another_python_or_numpy_is_installed_last(runs, monkeypatch, surroundings):
    monkeypatch.setattr(going_round.shutil, "which", lambda base: base)
    python = going_round.environment(surroundings)
    (version, _), (venv, _), *installed = runs
    base = surroundings.python or going_round.sys.executable
    assert version == [base, "--version"] and venv[:3] == [base, "-m", "venv"] and python.startswith(venv[3])
    assert all(command[:4] == [python, "-m", "pip", "install"] for command, _ in installed)
    last = [["-r", "requirements.txt"], *([["--upgrade", surroundings.numpy]] if surroundings.numpy else [])]
    assert [command[-2:] for command, _ in installed] == last


@pytest.mark.parametrize(("variables", "code"), [({}, 0), ({"CI": "true"}, 1)])
def test_a_python_that_is_not_there_is_said_and_red_where_all_have_to_be(runs, monkeypatch, capsys, variables, code):
    monkeypatch.setattr(going_round, "environment", lambda surroundings: None)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert going_round.main() == code
    assert capsys.readouterr().out.count("not here") == len(going_round.ROUND) and runs == []


def test_a_word_that_names_no_surroundings_is_an_error(runs, monkeypatch):
    monkeypatch.setattr("sys.argv", ["round", "no such"])
    with pytest.raises(SystemExit, match="no surroundings"):
        going_round.main()
