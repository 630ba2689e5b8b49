"""A dozen plausible faults, each of which must turn a test red; `make mutants` tries all of them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from mutants import MUTANTS, QUICK, survivors  # noqa: E402


def test_every_fault_can_be_made():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 60
    for mutant in MUTANTS:
        sound = (ROOT / mutant.path).read_bytes()
        assert mutant.apply(sound) != sound, mutant.name


def test_a_dozen_are_caught():
    chosen = [mutant for mutant in MUTANTS if mutant.name in QUICK]
    assert len(chosen) == 12
    assert survivors(chosen, workers=1) == []
