"""Words, units, ranges and the fields of quick checks, which stand beside numbers."""

from __future__ import annotations

from tools.faults.mutant import Mutant

CH6 = "book/06_cross_entropy_by_hand.ipynb"
T_VIEWS = "tests/package/test_views.py"
T_QUIZ = "tests/package/test_quiz.py"
T_PINNED = "tests/book/test_pinned.py"
CH2 = "book/02_shapes_of_W_U.ipynb"

FAULTS = [
    Mutant("quick check: answers rounded without scripts", "lmhead/widgets/quiz.py", "said = [(_typed(question, question[\"answer\"])", "said = [(f\"{question['answer']:.0f}.0\"", "tests/package/test_quiz.py"),
    Mutant("view: nats are called bits", "lmhead/widgets/_loss.py", "\"nats\": \"nats\"", "\"nats\": \"bits\"", T_VIEWS),
    Mutant("view: a slider's step", "lmhead/widgets/_probabilities.py", "0.1, 3.0, 0.05", "0.1, 3.0, 0.1", T_VIEWS),
    Mutant("number question: a sign is lost", "lmhead/widgets/quiz.js", "Number(`${sign}${number}e${power}`)", "Number(`${number}e${power}`)", T_QUIZ),
    Mutant("number question: judged in one of two meanings", "lmhead/widgets/quiz.py", "if not read or (right and slip is not None):", "if not read:", T_QUIZ),
    Mutant("quick check: twenty times the tolerance", CH6, "(three decimals)\\\", loss4, 0.002", "(three decimals)\\\", loss4, 0.04", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("quick check: another unit", CH2, "2 * MB, 0.5, unit=\\\"MB\\\"", "2 * MB, 0.5, unit=\\\"MiB\\\"", f"{T_PINNED} -k 02", refresh="02"),
    Mutant("quick check: what follows Right is false", CH6, ": the sum grew.\\\"", ": the sum shrank.\\\"", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("quick check: nats are called bits", CH6, "\\\"These are bits. Nats use the natural logarithm.\\\"", "\\\"These are nats. Bits use the natural logarithm.\\\"", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("quick check: another right answer", CH6, "np.exp(1.5), 0.02", "np.exp(1.6), 0.02", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("quick check: another question", CH6, "\\\"Logits are `[1, 3, 0.5, 2]`, the target is 3. What", "\\\"Logits are `[1, 3, 0.5, 2]`, the target is 2. What", f"{T_PINNED} -k 06", refresh="06"),
    Mutant("quick check: a wrong answer is the right one", CH2, "\\\"more than to any token whose logit is negative\\\": None,\\n\",\n    \"     \\\"1 over the number of all columns\\\": \\\"True where every logit is 0, but hardly elsewhere.\\\"", "\\\"more than to any token whose logit is negative\\\": \\\"So it is.\\\",\\n\",\n    \"     \\\"1 over the number of all columns\\\": None", f"{T_PINNED} -k 02", refresh="02"),
    Mutant("view: an axis in bits", "lmhead/widgets/_loss.py", "\"-log p (nats)\"", "\"-log p (bits)\"", f"{T_VIEWS} -k computes", refresh="06"),
    Mutant("view: a range ends early", "lmhead/widgets/_shapes.py", "slider(words[\"d_model\"], d_model, 32, 8192, 32)", "slider(words[\"d_model\"], d_model, 32, 4096, 32)", f"{T_VIEWS} -k range", refresh="02"),
    Mutant("view: a slider of another name", "lmhead/widgets/_gradient_step.py", "\"learning_rate\": \"learning rate\"", "\"learning_rate\": \"temperature\"", f"{T_VIEWS} -k called", refresh="07"),
    Mutant("view: another verdict", "lmhead/widgets/_overflow.py", "\"Only the shifted form is right.\"", "\"Only the naive form is right.\"", f"{T_VIEWS} -k computes", refresh="08"),
    Mutant("view: Right for Not quite", "lmhead/widgets/quiz.py", "\"wrong\": \"Not quite.\"", "\"wrong\": \"Right.\"", f"{T_PINNED} -k words", refresh="06"),
]  # fmt: skip
