"""Half a dozen plausible faults, each of which must turn a test red; `make mutants` tries all of them."""

from pathlib import Path

import pytest

from tools.faults import KINDS, MUTANTS, QUICK
from tools.faults.mutant import Mutant
from tools.mutants import caught_by, copy_of_the_project, survivors

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


@pytest.mark.mutation
def test_half_a_dozen_are_caught():
    chosen = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(chosen) == 6
    assert survivors(chosen, workers=1) == []


@pytest.mark.mutation
def test_a_chapter_is_made_anew_with_the_fault_and_mended_afterwards():
    stops = Mutant(
        "stops", "book/06_cross_entropy_by_hand.ipynb", "total = exponentials.sum()", "total = 1", "", refresh="06"
    )
    with copy_of_the_project() as project:
        before = (project / stops.path).read_bytes()
        assert caught_by(stops, project) == "06: a cell stops"
        assert (project / stops.path).read_bytes() == before == (ROOT / stops.path).read_bytes()
