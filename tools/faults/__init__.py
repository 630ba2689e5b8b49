"""Plausible faults by kind: a file for each, whose head says what they have in common. `tools/mutants.py` plants them."""

from tools.faults import (
    added,
    assertions,
    both_sides,
    checkers,
    computed,
    docstrings,
    ignored_positions,
    live_python,
    packed,
    pages,
    prose,
    settings,
    stored,
    tables,
    texts,
    views,
)
from tools.faults.mutant import Mutant

KINDS = {
    file.__name__.rpartition(".")[2]: file.FAULTS
    for file in (
        computed,
        ignored_positions,
        docstrings,
        checkers,
        both_sides,
        texts,
        assertions,
        prose,
        views,
        tables,
        packed,
        settings,
        stored,
        pages,
        live_python,
        added,
    )
}
MUTANTS: list[Mutant] = [fault for faults in KINDS.values() for fault in faults]

# Half a dozen of several kinds that are quick to catch: `make test` runs these.
QUICK = [
    "softmax: no max shift",
    "head: tied by a copy",
    "browser: no max shift",
    "number in a sentence",
    "alt text emptied",
    "verdict turned",
]
