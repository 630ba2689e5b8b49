"""Quick checks: each wrong answer is answered with the misconception behind it.

    quiz.show(
        quiz.choice(
            "What is the shape of `h @ W_U`?",
            {str(logits.shape): None, "(7, 4)": "You transposed the product."},
            because="positions by vocabulary",
        ),
        quiz.number(
            "The loss in **bits**?", loss / np.log(2), 0.01, wrong={loss: "These are nats: divide by log 2."}
        ),
    )

The right answers are computed in the cell, not typed. The checks work on the static page and in a live notebook;
nothing is sent or stored. Where no script runs, the answers stand under each question, folded.

In all texts `backticks` make code, *one star* emphasis and **two** stress.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import Any

from lmhead.widgets._view import Figure, View, with_words

__all__ = ["choice", "number", "show"]

WORDS = {
    "check": "Check",
    "right": "Right.",
    "wrong": "Not quite.",
    "empty": "Choose or enter an answer first.",
    "answer": "answer",
    "question": "Quick check",
    "answers": "Answers",
}

OTHERWISE = "This is none of the usual slips: go through the cell that computes it again."


def choice(question: str, answers: Mapping[str, str | None], *, because: str = "") -> dict[str, Any]:
    """A question with several answers, one of them right.

    Args:
      question: its text.
      answers: the text of each answer, in the order in which they stand; `None` for the right one, for each wrong one
        the misconception behind it.
      because: said after "Right."

    Raises:
      ValueError: not exactly one right answer (two answers of the same text are one), or a wrong one without a message.

    >>> choice("Is a logit a probability?", {"yes": "It can be negative.", "no": None})["right"]
    1
    """
    texts = list(answers)
    right = [text for text in texts if answers[text] is None]
    if len(right) != 1:
        raise ValueError(f"{question!r}: exactly one answer must be right (None); got {len(right)} of {texts}")
    silent = [text for text in texts if answers[text] is not None and not str(answers[text]).strip()]
    if silent or len(texts) < 2:
        raise ValueError(f"{question!r}: each wrong answer needs its misconception; none for {silent or 'any'}")
    return {
        "kind": "choice",
        "question": question,
        "answers": texts,
        "right": texts.index(right[0]),
        "messages": [answers[text] or "" for text in texts],
        "because": because,
    }


def number(
    question: str,
    answer: float,
    tolerance: float,
    *,
    wrong: Mapping[float, str],
    otherwise: str = OTHERWISE,
    because: str = "",
    unit: str = "",
) -> dict[str, Any]:
    """A question whose answer is a number.

    Args:
      question: its text.
      answer: the right value, computed.
      tolerance: how far from it an answer may be and still be right; known wrong values are recognised as closely.
      wrong: for each wrong value that a misconception gives, that misconception.
      otherwise: the answer to any other number.
      because: said after "Right."
      unit: stands after the field.

    Raises:
      ValueError: values that are not finite, no wrong value, or two values so near that one reply could mean both.

    >>> number("log 1?", 0.0, 0.01, wrong={1.0: "That is exp 0."})["wrong"]
    [{'value': 1.0, 'message': 'That is exp 0.'}]
    """
    values = [float(answer), *map(float, wrong)]
    if not all(map(math.isfinite, [*values, tolerance])) or tolerance < 0:
        raise ValueError(f"{question!r}: answers and tolerance must be finite, tolerance not negative; got {values}")
    if not wrong or not all(message.strip() for message in [*wrong.values(), otherwise]):
        raise ValueError(f"{question!r}: name at least one wrong value, and each one's misconception")
    for at, value in enumerate(values):
        near = [other for other in values[:at] if abs(value - other) <= 2 * tolerance]
        if near:
            raise ValueError(f"{question!r}: {value} and {near[0]} cannot be told apart at tolerance {tolerance}")
    return {
        "kind": "number",
        "question": question,
        "answer": float(answer),
        "tolerance": float(tolerance),
        "wrong": [{"value": float(value), "message": message} for value, message in wrong.items()],
        "otherwise": otherwise,
        "because": because,
        "unit": unit,
    }


def show(*questions: dict[str, Any], words: Mapping[str, str] | None = None) -> Figure:
    """The questions under one another, each with its own Check button.

    Args:
      questions: made by `choice` and `number`.
      words: replacements for words on the screen.

    Raises:
      ValueError: no questions.
    """
    if not questions:
        raise ValueError("show needs at least one question")
    words = with_words(WORDS, words)
    static = "".join(_folded(question, words) for question in questions)
    return Figure([View("quiz", {"questions": list(questions), "words": words}, parts=["base"])], static)


def _folded(question: dict[str, Any], words: Mapping[str, str]) -> str:
    """One question with its answers, folded: what stands in where no script runs."""
    title = html.escape(words["question"])
    if question["kind"] == "choice":
        options = "".join(f"<li>{_marked_up(text)}</li>" for text in question["answers"])
        asked = f"{_marked_up(question['question'])}</p><ul>{options}</ul>"
        said = [
            (text, words["right"] + " " + question["because"] if token == question["right"] else message)
            for token, (text, message) in enumerate(zip(question["answers"], question["messages"], strict=True))
        ]
    else:
        asked = f"{_marked_up(question['question'])}</p>"
        said = [(f"{question['answer']:.6g}", words["right"] + " " + question["because"])]
        said += [(f"{wrong['value']:.6g}", wrong["message"]) for wrong in question["wrong"]]
    answers = "".join(f"<dt>{_marked_up(text)}</dt><dd>{_marked_up(message)}</dd>" for text, message in said)
    folded = f"<details><summary>{html.escape(words['answers'])}</summary><dl>{answers}</dl></details>"
    return f"<p><strong>{title}.</strong> {asked}{folded}"


def _marked_up(text: str) -> str:
    """Escaped text, in which `backticks` make code, *one star* emphasis and **two** stress."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    marked = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
    return re.sub(r"\*([^\s*][^*]*)\*", r"<em>\1</em>", marked)
