"""The checkers of exercises: a kind of case, a known slip, what counts as wrong."""

from __future__ import annotations

from tools.faults.mutant import Mutant, without_kind

T_SLIPS = "tests/package/test_check_slips.py"
CHECK = "lmhead/check/run.py"

FAULTS = [
    Mutant("checker: no vocabulary above 100", "lmhead/check/loss.py", without_kind("a vocabulary above 100"), "", f"{T_SLIPS} -k masked_mean"),
    Mutant("checker: no answer in front", "lmhead/check/loss.py", without_kind("an answer in front"), "", f"{T_SLIPS} -k chat_targets"),
    Mutant("checker: no square matrix", "lmhead/check/head.py", without_kind("as many tokens as dimensions"), "", f"{T_SLIPS} -k next_token"),
    Mutant("checker: no smaller last chunk", "lmhead/check/streaming.py", without_kind("a smaller last chunk"), "", f"{T_SLIPS} -k streaming"),
    Mutant("checker: no two empty pieces", "lmhead/check/streaming.py", without_kind("two empty pieces"), "", f"{T_SLIPS} -k merge"),
    Mutant("checker: no sum that is p exactly", "lmhead/check/choosing.py", without_kind("a sum that is p exactly"), "", f"{T_SLIPS} -k top_p"),
    Mutant("checker: no accents", "lmhead/check/measures.py", without_kind("letters with accents"), "", f"{T_SLIPS} -k bits_per_byte"),
    Mutant("checker: no masked token", "lmhead/check/probabilities.py", without_kind("a token masked with -inf"), "", f"{T_SLIPS} -k softmax"),
    Mutant("checker: no two that share the lead", "lmhead/check/stability.py", without_kind("two that share the lead"), "", T_SLIPS),
    Mutant("checker: the last slip's name", "lmhead/check/loss.py", "You use log2, which gives bits. The loss is in nats: np.log.\",\n        ),\n    ],\n)\n\n\ndef masked_mean", "You use log10. The loss is in nats: np.log.\",\n        ),\n    ],\n)\n\n\ndef masked_mean", "tests/book/test_pinned.py -k checkers"),
    Mutant("checker: nearly right is right", CHECK, "RTOL = 1e-5", "RTOL = 1e-1", "tests/package/test_check.py tests/package/test_check_slips.py"),
    Mutant("checker: a changed argument passes", CHECK, "    if outcome.changed:\n        return \"changed\"\n", "", "tests/package/test_check.py -k argument"),
    Mutant("checker: memory is not counted", CHECK, "too_big = peak > case.kind.max_bytes", "too_big = False", f"{T_SLIPS} -k streaming"),
    Mutant("checker: floats for ids pass", CHECK, "got is None or (expected.dtype.kind in \"iu\" and got.dtype.kind == \"f\")", "got is None", "tests/package/test_check.py"),
    Mutant("checker: nothing far below 0 is tried", "lmhead/check/training.py", "draw(6, 3, 3) - 900.0", "draw(6, 3, 3) - 9.0", "tests/book/test_pinned.py -k checkers"),
    Mutant("grading: a call is looked for in the first case alone", "lmhead/check/grading.py", "for case in cases_of(exercise):", "for case in cases_of(exercise)[:1]:", "tests/package/test_grading.py -k calls_lmhead"),
    Mutant("checker: some per cent off are the right numbers in float16", "lmhead/check/run.py", "rtol=2**-8", "rtol=2**-4", "tests/package/test_check.py -k precision"),
    Mutant("checker: swallows the stop button", "lmhead/check/run.py", "except (Exception, SystemExit) as error:", "except BaseException as error:", "tests/package/test_check.py -k stops"),
    Mutant("checker: shows an entry that is right", "lmhead/check/show.py", "np.argwhere(x != y)[np.argmax(~np.isclose(x, y)[x != y])])", "np.argwhere(x != y)[0])", "tests/package/test_check.py -k long_array"),
]  # fmt: skip
