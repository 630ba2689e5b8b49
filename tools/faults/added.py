"""What the second edition adds: Python on the page, twins, the classroom, start tokens, a learning head, shards."""

from __future__ import annotations

from tools.faults.mutant import Mutant

SHARDED = "lmhead/sharded.py"
T_SHARDED = "tests/package/test_sharded.py"
CH6 = "book/06_cross_entropy_by_hand.ipynb"
T_VIEWS = "tests/package/test_views.py"
T_PINNED = "tests/book/test_pinned.py"
GRADING = "lmhead/check/grading.py"
T_GRADING = "tests/package/test_grading.py"
T_TWINS = "tests/book/test_twins.py"

FAULTS = [
    Mutant("sharded: target looked up by its id in the whole vocabulary", SHARDED, 'y.ids - arguments.as_int(shard.first, "first")', "y.ids", T_SHARDED),
    Mutant("sharded: a target's gradient loses its digits", SHARDED, "np.expm1(-losses[here])", "np.exp(-losses[here]) - 1", T_SHARDED),
    Mutant("sharded: shards that overlap pass", SHARDED, ".sum(axis=0) > 1)", ".sum(axis=0) > 9)", T_SHARDED),
    Mutant("sharded: ignored positions push", SHARDED, "y.in_place(G[y.positions] / y.divisor(\"mean\"))", "(G / y.divisor(\"mean\"))", T_SHARDED),
    Mutant("grading: a called verb not seen", GRADING, 'event != "call" or not of_lmhead(frame)', "True", T_GRADING),
    Mutant("grading: a kind passes by one case", GRADING, "right == cases", "right > 0", T_GRADING),
    Mutant("twin: no number of its chapter", CH6, "[0.41703 1.41703 2.31703] float32", "[9.41713 8.41713] float32", T_TWINS),
    Mutant("twin: a draw changes nothing", "tools/twins.py", '{"rng"} & reads(source)', "set()", T_TWINS),
    Mutant("twin: what it printed is not kept", "tools/twins.py", "self.code, self.said]", "self.code]", T_TWINS),
    Mutant("twin: its tab counts as minutes", "tools/chapters.py", "(?:dropdown|tab-set)", "(?:dropdown)", "tests/book/test_conventions.py -k words"),
    Mutant("twin: a cell that changes what it reads is not used", "tools/twins.py", "(binds(source) | changes(source)) & wanted", "binds(source) & wanted", T_TWINS),
    Mutant("twin: another output", CH6, "nll_loss(F.softmax(rows, -1), truth, reduction=\\\"none\\\").numpy().round(5))\\n\",\n    \"```\\n\",\n    \"\\n\",\n    \"```text\\n\",\n    \"[0.41703 1.41703 2.31703]", "nll_loss(F.softmax(rows, -1), truth, reduction=\\\"none\\\").numpy().round(5))\\n\",\n    \"```\\n\",\n    \"\\n\",\n    \"```text\\n\",\n    \"[0.41703 1.41703 2.31713]", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("twin: the version of a framework is not said", "book/_ext/twins.py", '    "flax": "Flax",\n', "", f"{T_TWINS} -k framework"),
    Mutant("start: a second one before a chat", "lmhead/smollm/tokenizer.py", "text.startswith((\"<|endoftext|>\", \"<|im_start|>\"))", "text.startswith(\"<|endoftext|>\")", "tests/package/test_smollm.py -k added_twice"),
    Mutant("start: another system prompt", "lmhead/smollm/tokenizer.py", "named SmolLM, trained", "called SmolLM, trained", "tests/package/test_smollm.py -k template"),
    Mutant("classroom: an answer earns all", GRADING, "round(float(points) * passed / len(kinds), 2)", "round(float(points), 2)", T_GRADING),
    Mutant("classroom: NumPy's float", GRADING, "round(float(points) * passed / len(kinds), 2)", "np.float64(points) * passed / len(kinds)", T_GRADING, ((GRADING, "import lmhead\nfrom", "import numpy as np\n\nimport lmhead\nfrom"),)),
    Mutant("learning head: rows weigh alike", "lmhead/widgets/_training.py", "(n * softmax(W_U) - counts)", "(softmax(W_U) - counts / n)", f"{T_VIEWS} -k training", (("lmhead/widgets/training.js", "(n[i] * p[i][j] - counts[i][j])", "(p[i][j] - counts[i][j] / n[i])"),), refresh="09"),
    Mutant("learning head: the separator has another id", "lmhead/names.py", "LETTERS = \".abcdefghijklmnopqrstuvwxyz\"", "LETTERS = \"abcdefghijklmnopqrstuvwxyz.\"", "tests/package/test_names.py"),
    Mutant("Python on the page: says as in the book of changed code", "book/_ext/live_python/cells.js", "cell.changed() ? \": your code\" : ", "", "tests/site/test_live_python.py -k changed_cell"),
    Mutant("Python on the page: what comes before is not run", "book/_ext/live_python/cells.js", "(at === last || cell.ran !== cell.now())", "at === last", "tests/site/test_live_python.py -k comes_before"),
]  # fmt: skip
