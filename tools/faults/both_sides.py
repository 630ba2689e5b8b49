"""The same fault in Python and in the browser, so that each agrees with the other."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_VIEWS = "tests/package/test_views.py"
T_QUIZ = "tests/package/test_quiz.py"
T_SHOWS = "tests/package/test_views.py -k computes"

FAULTS = [
    Mutant("view: bits by log 10", "lmhead/widgets/loss.js", "loss / Math.LN2", "loss / Math.LN10", T_VIEWS),
    Mutant("both: bits by log 10", "lmhead/widgets/_loss.py", "loss / float(np.log(2))", "loss / float(np.log(10))", T_SHOWS, (("lmhead/widgets/loss.js", "loss / Math.LN2", "loss / Math.LN10"),), refresh="06"),
    Mutant("both: perplexity is 2 to the loss", "lmhead/widgets/_loss.py", "float(perplexity(loss))", "float(2**loss)", T_SHOWS, (("lmhead/widgets/loss.js", "Math.exp(loss)", "2 ** loss"),), refresh="06"),
    Mutant("both: a cosine with the length of the column in it", "lmhead/widgets/_directions.py", "logit / (state[\"length\"] * np.linalg.norm(W_U, axis=0))", "logit / state[\"length\"]", T_SHOWS, (("lmhead/widgets/directions.js", "z / (length * Math.hypot(W_U[0][j], W_U[1][j]))", "z / length"),), refresh="03"),
    Mutant("both: angles the other way round", "lmhead/widgets/_directions.py", "np.array([np.cos(angle), np.sin(angle)])", "np.array([np.cos(angle), -np.sin(angle)])", T_SHOWS, (("lmhead/widgets/directions.js", "length * Math.sin(radians)]", "-length * Math.sin(radians)]"),), refresh="03"),
    Mutant("both: a device's share is rounded down", "lmhead/widgets/_head_cost.py", "share = -(-v // state[\"devices\"])", "share = v // state[\"devices\"]", T_SHOWS, (("lmhead/widgets/head_cost.js", "Math.ceil(vocab_size / devices)", "Math.floor(vocab_size / devices)"),)),
    Mutant("both: two numbers are exchanged", "lmhead/widgets/_head_cost.py", "3 * n * state[\"devices\"] * 8", "2 * n * state[\"devices\"] * 8", T_SHOWS, (("lmhead/widgets/head_cost.js", "3 * positions * devices * 8", "2 * positions * devices * 8"),), refresh="13"),
    Mutant("both: a buffer wider than the vocabulary", "lmhead/widgets/_head_cost.py", "n * min(state[\"chunk\"], v) * width", "n * state[\"chunk\"] * width", T_SHOWS, (("lmhead/widgets/head_cost.js", "Math.min(chunk, vocab_size)", "chunk"),)),
    Mutant("both: tied, and counted twice", "lmhead/widgets/_shapes.py", "matrix if state[\"tied\"] else 2 * matrix", "2 * matrix", T_SHOWS, (("lmhead/widgets/shapes.js", "tied ? matrix : 2 * matrix", "2 * matrix"),)),
    Mutant("both: a step with the gradient", "lmhead/widgets/_gradient_step.py", "logits - state[\"learning_rate\"] * gradient", "logits + state[\"learning_rate\"] * gradient", T_SHOWS, (("lmhead/widgets/gradient_step.js", "z - learning_rate * gradient[j]", "z + learning_rate * gradient[j]"),), refresh="07"),
    Mutant("both: top-p before top-k", "lmhead/widgets/_probabilities.py", "top_p(top_k(tempered, state[\"top_k\"]), state[\"top_p\"])", "top_p(tempered, state[\"top_p\"])", T_SHOWS, (("lmhead/widgets/probabilities.js", "{ topK: top_k, topP: top_p }", "{ topP: top_p }"),)),
    Mutant("both: MB for MiB", "lmhead/widgets/_write.py", "\"KiB\", \"MiB\", \"GiB\"", "\"KiB\", \"MB\", \"GiB\"", T_SHOWS, (("lmhead/widgets/write.js", "\"KiB\", \"MiB\", \"GiB\"", "\"KiB\", \"MB\", \"GiB\""),), refresh="13"),
    Mutant("both: three decimals", "lmhead/widgets/_write.py", "abs(x) >= 1e6 else \".4f\"", "abs(x) >= 1e6 else \".3f\"", T_SHOWS, (("lmhead/widgets/write.js", "x.toFixed(4)", "x.toFixed(3)"),), refresh="06"),
    Mutant("both: replies are taken from twenty times as far", "lmhead/widgets/quiz.py", "<= question[\"tolerance\"] for number", "<= 20 * question[\"tolerance\"] for number", f"{T_QUIZ} -k ends_where", (("lmhead/widgets/quiz.js", "<= question.tolerance", "<= 20 * question.tolerance"),), refresh="06"),
]  # fmt: skip
