"""A dozen plausible faults, each of which must turn a test red; `make mutants` tries all of them."""

from pathlib import Path

import pytest

from tools.mutants import MUTANTS, QUICK, survivors

ROOT = Path(__file__).parents[2]


def test_every_fault_can_be_made():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 60
    for mutant in MUTANTS:
        sound = (ROOT / mutant.path).read_bytes()
        assert mutant.apply(sound) != sound, mutant.name


@pytest.mark.mutation
def test_a_dozen_are_caught():
    chosen = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(chosen) == 12
    assert survivors(chosen, workers=1) == []
