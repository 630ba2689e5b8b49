"""Stored outputs: of cells that were not run anew, and of cells that were, with a fault in them."""

from __future__ import annotations

import re
from typing import Any

from tools.faults.mutant import Mutant, cell_with, notebook

CH4, CH8, CH12 = "book/04_weight_tying.ipynb", "book/08_numerical_stability.ipynb", "book/12_a_real_head.ipynb"
CH6 = "book/06_cross_entropy_by_hand.ipynb"
CH7 = "book/07_training_the_head.ipynb"
T_BOOK = "tests/book/test_book.py"
T_PROSE = "tests/book/test_numbers_in_prose.py"
T_PINNED = "tests/book/test_pinned.py"
T_STORED = "tests/book/test_notebooks.py -k 06"
T_ALONE = "tests/book/test_alone.py"
T_NOTATION = "tests/book/test_notation.py"
CH9 = "book/09_a_head_that_learns.ipynb"


def drop_widget_state(content: dict[str, Any]) -> None:
    del content["metadata"]["widgets"]


def nudge_a_stored_logit(content: dict[str, Any]) -> None:
    (widgets,) = content["metadata"]["widgets"].values()
    model = next(m for m in widgets["state"].values() if len(m["state"].get("logits", [])) == 3)
    model["state"]["logits"][1] += 0.5


def store_unrun(content: dict[str, Any]) -> None:
    cell = cell_with(content, "exponentials = np.exp(z)")
    cell["execution_count"], cell["outputs"] = None, []


def skip_a_cell(content: dict[str, Any]) -> None:
    cell_with(content, "exponentials = np.exp(z)")["metadata"].setdefault("tags", []).append("nbval-skip")


def move_a_point_of_a_figure(content: dict[str, Any]) -> None:
    data = cell_with(content, "plots.loss_curve")["outputs"][0]["data"]
    svg = "".join(data["image/svg+xml"])
    at = next(re.finditer(r'<path d="M ([\d.]+) ', svg))
    data["image/svg+xml"] = svg[: at.start(1)] + "7.5" + svg[at.end(1) :]


FAULTS = [
    Mutant("stored output changed", CH6, "sum : 11.21251", "sum : 11.21261", f"--nbval {CH6}"),
    Mutant("stored error changed", CH6, '"ename": "IndexError"', '"ename": "ValueError"', f"--nbval {CH6}"),
    Mutant("label in a figure", CH7, '\\"xlabel\\": \\"step\\"', '\\"xlabel\\": \\"epoch\\"', "tests/book/test_figures_07.py"),
    Mutant("data in a figure", CH7, "plots.bars(words, cross_entropy_grad(z, y)", "plots.bars(words, softmax(z)", "tests/book/test_figures_07.py"),
    Mutant("widget state dropped", CH6, notebook(drop_widget_state), "", T_STORED),
    Mutant("widget logit changed", CH6, notebook(nudge_a_stored_logit), "", T_STORED),
    Mutant("cell stored unrun", CH6, notebook(store_unrun), "", T_BOOK),
    Mutant("cell skipped", CH6, notebook(skip_a_cell), "", T_BOOK),
    Mutant("figure's point moved", CH6, notebook(move_a_point_of_a_figure), "", T_STORED),
    Mutant("a variable that is not what it is called", CH6, "z = np.array([2.0, 1.0, 0.1])", "W_U = z = np.array([2.0, 1.0, 0.1])", T_NOTATION),
    Mutant("a notebook alone says nothing", "tools/alone.py", 'if not importlib', 'if importlib', T_ALONE),
    Mutant("a token is scored in every window that holds it", CH12, "[done - start :]", "[:]", f"--nbval {CH12}"),
    Mutant("a trained head survives a tied configuration", CH4, 'tie(E) if is_tied else arrays[\\"head\\"].T', 'arrays.get(\\"head\\", E).T', f"--nbval {CH4}"),
    Mutant("the cap is a cut", CH8, "return cap * np.tanh(z / cap)", "return np.clip(z, -cap, cap)", f"--nbval {CH8}"),
    Mutant("refreshed: another landmark", CH6, "for p_y in (0.999, 0.5, 0.1,", "for p_y in (0.999, 0.52, 0.1,", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("refreshed: the base of a logarithm", CH6, "bits, ppl = loss / np.log(2)", "bits, ppl = loss / np.log(3)", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("refreshed: a mean for a sum", CH6, "cross_entropy(Z, targets, reduction=\\\"sum\\\")", "cross_entropy(Z, targets)", T_PROSE + " -k 06", refresh="06"),
    Mutant("refreshed: the data of a figure", CH6, "ax = plots.loss_curve(p, words)", "ax = plots.loss_curve(p[::-1], words)", "tests/book/test_figures_06.py", refresh="06"),
    Mutant("refreshed: a rate in a figure's curve", CH9, "\\\"B\\\": train(counts, rate=120.0)", "\\\"B\\\": train(counts, rate=60.0)", "tests/book/test_figures_09.py", refresh="09"),
    Mutant("refreshed: bets that miss the frequencies", CH6, "for on_cat in (0.25, 0.4, 0.5, 0.6, 0.9)", "for on_cat in (0.25, 0.4, 0.51, 0.6, 0.9)", T_PROSE + " -k 06", refresh="06"),
]  # fmt: skip
