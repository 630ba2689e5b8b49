"""What the folded cells assert, and how near."""

from __future__ import annotations

from typing import Any

from tools.faults.mutant import Mutant, cell_with, notebook

CH6 = "book/06_cross_entropy_by_hand.ipynb"
T_CLAIMS = "tests/book/test_claims.py"
T_PINNED = "tests/book/test_pinned.py"
CH2 = "book/02_shapes_of_W_U.ipynb"
CH3 = "book/03_columns_are_directions.ipynb"
CH5 = "book/05_logits_to_probabilities.ipynb"
CH9 = "book/09_a_head_that_learns.ipynb"
CH10 = "book/10_the_tied_gradient.ipynb"
CH13 = "book/13_the_head_at_scale.ipynb"
T_CONVENTIONS = "tests/book/test_conventions.py"


def drop_a_claim_s_assertion(content: dict[str, Any]) -> None:
    cell = cell_with(content, "assert np.array_equal(by_sum")
    cell["source"] = [line for line in cell["source"] if not line.startswith("assert")]


def untag_a_claim(content: dict[str, Any]) -> None:
    cell_with(content, "by_sum = ")["metadata"]["tags"] = []


FAULTS = [
    Mutant("claim asserts nothing", CH6, notebook(drop_a_claim_s_assertion), "", T_CLAIMS),
    Mutant("claim untagged", CH6, notebook(untag_a_claim), "", T_CLAIMS),
    Mutant("claim's label gone", CH6, "(claim-B13)=", "(claim-13)=", T_CLAIMS),
    Mutant("assertion: a tolerance of 1", CH9, "len(read), rtol=1e-12)", "len(read), rtol=1)", f"{T_CONVENTIONS} -k tolerance", refresh="09"),
    Mutant("assertion: a bound of nine digits for fifteen", CH9, "len(read), rtol=1e-12)", "len(read), rtol=1e-6)", f"{T_PINNED} -k 09", refresh="09"),
    Mutant("assertion: a factor is lost", CH6, "assert 4 * started < without", "assert started < without", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("assertion: above 0 for above one half", CH3, "assert abs(moved_cosines - cosines).max() > 0.5", "assert abs(moved_cosines - cosines).max() >= 0", f"{T_PINNED} -k 03", refresh="03"),
    Mutant("assertion: half of it is gone", CH5, "assert (z < 0).any() and (p > 0).all() and np", "assert (z < 0).any() and np", f"{T_PINNED} -k 05", refresh="05"),
    Mutant("assertion: no bounds between", CH2, "assert (apart <= bound).all() and bound.max() < 1e-10", "assert (apart <= bound).all()", f"{T_PINNED} -k 02", refresh="02"),
    Mutant("assertion: above 0 for above a tenth", CH10, "assert np.abs(as_input).max() > 0.1 and", "assert np.abs(as_input).max() > 0 and", f"{T_PINNED} -k 10", refresh="10"),
    Mutant("assertion: any share", CH13, "0.59 < share < 0.61", "0 < share < 1", f"{T_PINNED} -k 13", refresh="13"),
    Mutant("assertion: far from the floor", CH9, "assert 0 < losses[500] - floor < 0.01", "assert 0 < losses[500] - floor < 1", f"{T_PINNED} -k 09", refresh="09"),
    Mutant("assertion: a line is gone", CH6, "atol=5e-6)\\n\",\n    \"assert np.allclose(p, softmax(z))\"", "atol=5e-6)\"", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("assertion: of itself", CH6, "assert np.allclose(p, softmax(z))", "assert np.allclose(p, p)", "tests/book/test_notebooks.py -k assertion_can_fail[06", refresh="06"),
]  # fmt: skip
