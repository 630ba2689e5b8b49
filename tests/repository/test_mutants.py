"""Half a dozen plausible faults, each of which must turn a test red; `make mutants` tries all of them."""

from contextlib import nullcontext
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pytest

from tools import mutants
from tools.faults import KINDS, MUTANTS, QUICK
from tools.faults.mutant import Mutant
from tools.mutants import caught_by, copy_of_the_project, proves, verdicts

ROOT = Path(__file__).parents[2]


def test_every_fault_can_be_made():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 200
    few = {kind: len(faults) for kind, faults in KINDS.items() if len(faults) < 10}
    assert set(few) <= {"pages", "live_python"}, few
    for mutant in MUTANTS:
        for name, old, new in mutant.places():
            sound = (ROOT / name).read_bytes()
            assert mutant.apply(sound, old, new) != sound, mutant.name


def test_those_that_are_stored_with_the_fault_in_them_name_chapters():
    numbers = {path.name[:2] for path in (ROOT / "book").glob("[0-9]*.ipynb")}
    anew = [mutant for mutant in MUTANTS if mutant.refresh]
    assert len(anew) >= 30
    assert [mutant.name for mutant in anew if not set(mutant.refresh.split()) <= numbers] == []


def test_the_files_of_their_tests_are_there():
    for mutant in MUTANTS:
        files = [word for word in mutant.tests.split() if "/" in word]
        assert files and all((ROOT / file.partition("::")[0]).is_file() for file in files), mutant.name


def test_a_fault_in_a_script_is_planted_in_the_built_site_too_and_the_tests_look_at_that(tmp_path, monkeypatch):
    script, bundle, other = (tmp_path / name for name in ("book/a.js", "_build/html/all.js", "_build/html/other.js"))
    texts = {script: "let a = 1;\n", bundle: "let first = 1;\nlet a = 1;\nlet last = 1;\n", other: "let b = 1;\n"}
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    asked = []

    def run(command, **_):
        asked.append(command)
        return SimpleNamespace(returncode=0, stdout="")

    monkeypatch.setattr(mutants.subprocess, "run", run)
    for tests in ("tests/site/test_a.py", "tests/book/test_a.py"):
        mutant = Mutant("two", "book/a.js", "1", "2", tests)
        with mutants.planted(mutant, tmp_path):
            mutants.red_test(mutant, tmp_path)
            planted = {
                file for file in texts if file.read_text() == texts[file].replace("a = 1", "a = 2") != texts[file]
            }
            assert planted == ({script, bundle} if "site" in tests else {script})
            assert ("--site" in asked[-1]) == ("site" in tests)
        assert {file: file.read_text() for file in texts} == texts
    bundle.write_text("made into something else")
    mutants.red_test(Mutant("two", "book/a.js", "1", "2", "tests/site/test_a.py"), tmp_path)
    assert "--site" not in asked[-1]


@pytest.mark.parametrize("code", [3, 4, 5])
def test_a_run_without_tests_has_caught_nothing(code, monkeypatch):
    """A name that is gone, or that -k does not find: pytest's own exit codes."""
    monkeypatch.setattr(
        mutants.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=code, stdout="", stderr="")
    )
    with pytest.raises(RuntimeError, match="could not run"):
        mutants.red_test(MUTANTS[0], ROOT)


@pytest.mark.parametrize("said, red", [("FAILED", "tests/a.py::test_b"), ("ERROR", "tests/a.py::test_b (its set-up)")])
def test_a_test_whose_set_up_is_stopped_has_caught_nothing(said, red, monkeypatch, capsys, tmp_path):
    """As of any test of the site where the site cannot be built; a test that fails has."""
    ended = SimpleNamespace(
        returncode=1, stdout=f"{said} tests/a.py::test_b - Failed: The book does not build", stderr=""
    )
    monkeypatch.setattr(mutants.subprocess, "run", lambda *_, **__: ended)
    assert mutants.red_test(MUTANTS[0], tmp_path) == red
    monkeypatch.setattr(mutants, "copy_of_the_project", lambda: nullcontext(tmp_path))
    monkeypatch.setattr(mutants, "red_anyway", lambda caught: None)
    monkeypatch.setattr(mutants, "caught_by", lambda mutant, project: red)
    monkeypatch.setattr("sys.argv", ["mutants", MUTANTS[0].name])
    assert mutants.main() == int(said == "ERROR")
    assert ("0 killed, 1 survived" in capsys.readouterr().out) == (said == "ERROR")


def test_a_run_that_fails_and_names_no_test_has_caught_nothing(monkeypatch):
    ended = SimpleNamespace(returncode=1, stdout="", stderr="a plugin stops")
    monkeypatch.setattr(mutants.subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(RuntimeError, match="failed, and no test"):
        mutants.red_test(MUTANTS[0], ROOT)


@pytest.mark.parametrize("red", ["tests/a.py::test_b", None])
@pytest.mark.parametrize("caught", ["tests/a.py::test_b", None])
def test_a_test_that_is_red_without_a_fault_proves_nothing_and_one_that_stays_green_fails_the_run(
    monkeypatch, capsys, tmp_path, red, caught
):
    monkeypatch.setattr(mutants, "copy_of_the_project", lambda: nullcontext(tmp_path))
    monkeypatch.setattr(mutants, "red_test", lambda mutant, project: red)
    monkeypatch.setattr(mutants, "caught_by", lambda mutant, project: caught)
    monkeypatch.setattr("sys.argv", ["mutants", MUTANTS[0].name])
    assert mutants.main() == int(bool(red and caught) or not caught)
    assert ("RED without any fault" in capsys.readouterr().out) == bool(red and caught)


def test_what_caught_a_fault_is_asked_for_by_its_name(monkeypatch):
    asked = []
    monkeypatch.setattr(mutants, "copy_of_the_project", lambda: nullcontext(ROOT))
    monkeypatch.setattr(mutants, "red_test", lambda mutant, project: asked.append(mutant.tests))
    caught = ["tests/a.py::test_b[x-1]", "tests/a.py::test_c[two", "book/06_a.ipynb::Cell"]
    mutants.red_anyway([*caught, "06: a cell stops"])
    assert asked == ["--nbval book/06_a.ipynb tests/a.py::test_b[x-1] tests/a.py::test_c"]


def test_a_copy_in_which_something_went_wrong_serves_the_next(tmp_path):
    copies = Queue[Path]()
    copies.put(tmp_path)
    with pytest.raises(LookupError), mutants.lent(copies):
        raise LookupError
    assert copies.get_nowait() == tmp_path


def test_a_word_that_names_no_fault_is_an_error(monkeypatch):
    monkeypatch.setattr("sys.argv", ["mutants", "no such fault"])
    with pytest.raises(SystemExit, match="2"):
        mutants.main()


@pytest.mark.mutation
def test_half_a_dozen_are_caught():
    chosen = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(chosen) == 6
    assert all(map(proves, verdicts(chosen, workers=1).values()))


@pytest.mark.mutation
def test_a_chapter_is_made_anew_with_the_fault_and_mended_afterwards():
    stops = Mutant(
        "stops", "book/06_cross_entropy_by_hand.ipynb", "total = exponentials.sum()", "total = 1", "", refresh="06"
    )
    with copy_of_the_project() as project:
        before = (project / stops.path).read_bytes()
        assert caught_by(stops, project) == "06: a cell stops"
        assert (project / stops.path).read_bytes() == before == (ROOT / stops.path).read_bytes()
