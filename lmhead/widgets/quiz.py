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
from lmhead.widgets._write import stored

__all__ = ["choice", "judge", "number", "readings", "show"]

WORDS = {
    "check": "Check",
    "right": "Right",
    "wrong": "Not quite.",
    "empty": "Choose or enter an answer first.",
    "unread": "“{reply}” was not understood, so it is not judged. Write one number, such as 1234.5, -0.5 or 1e-3.",
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
      because: said after "Right:"

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
      because: said after "Right:"
      unit: stands after the field.

    Raises:
      ValueError: values that are not finite, no wrong value, or two values so near that one reply could mean both.

    >>> number("log 1?", 0.0, 0.01, wrong={1.0: "That is exp 0."})["wrong"]
    [{'value': 1.0, 'message': 'That is exp 0.'}]
    """
    values = [stored(answer), *map(stored, wrong)]
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
        "answer": stored(answer),
        "tolerance": float(tolerance),
        "wrong": [{"value": stored(value), "message": message} for value, message in wrong.items()],
        "otherwise": otherwise,
        "because": because,
        "unit": unit,
    }


# The same expressions as in quiz.js.
SPACE, MINUS = re.compile("[ \\t\u00a0\u2000-\u200a\u202f\u3000]+"), re.compile("[\u2010-\u2015\u2212\ufe63]")
PARTS = re.compile(r"([+-]?) ?(.*?)(?: ?(?:[eE]|[*xX\u00d7\u00b7] ?10 ?(?:\^|\*\*)) ?([+-]?[0-9]{1,3}))?")
PLAIN = re.compile(r"[0-9]+[.,]?[0-9]*|[.,][0-9]+")
IN_GROUPS = re.compile(r"([1-9][0-9]{0,2})([ ',._])([0-9]{3}(?:\2[0-9]{3})*)(?:(?!\2)[.,]([0-9]*))?")
AS_ASCII: dict[int, int | str] = {
    **{wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)},  # full-width digits and signs
    **{zero + digit: ord("0") + digit for zero in (0x660, 0x6F0) for digit in range(10)},  # Arabic and Persian ones
    **dict(zip(map(ord, "。٫‘’٬"), "..'''", strict=True)),
}


def readings(text: str, unit: str = "") -> list[float]:
    """What a typed number may mean, as the browser reads it: no number if it is not understood.

    A point and a comma both part the decimals, a leading or trailing one too. Thousands may be set apart, in groups of
    three, by a space, an apostrophe or a low line; by a comma or a point where there are several groups or decimals
    behind the other mark. One comma before three digits may be either, as in 1,440: both are readings, and `judge`
    takes the one that the question knows. One point is a decimal one, as everywhere in this book. The minus sign may be
    a hyphen, U+2212 or a dash; digits may be full-width or Arabic; a power of ten is e-3 or ×10^-3; the question's own
    unit may follow. Anything else, a fraction or a percentage too, is not understood.

    >>> readings("−1.234,5"), readings("1,440"), readings("1/2")
    ([-1234.5], [1.44, 1440.0], [])
    """
    text = SPACE.sub(" ", text).strip(" ")
    if unit:
        text = text.removesuffix(unit)
    text = MINUS.sub("-", text.translate(AS_ASCII)).strip(" ")
    sign, digits, power = (PARTS.fullmatch(text) or PARTS.fullmatch("")).groups("")  # type: ignore[union-attr]
    grouped, found = IN_GROUPS.fullmatch(digits), []
    if PLAIN.fullmatch(digits):
        found.append(digits.replace(",", "."))
    if grouped and not (found and grouped[2] == "."):
        found.append(f"{grouped[1]}{grouped[3].replace(grouped[2], '')}.{grouped[4] or ''}")
    return [number for one in found if math.isfinite(number := float(f"{sign}{one}e{power or 0}"))]


def judge(question: Mapping[str, Any], reply: int | str) -> tuple[bool, str] | None:
    """What a reply gets, as in the browser: whether it is right, and the message that answers it.

    Args:
      question: made by `choice` or `number`.
      reply: the place of the chosen answer, or what was typed.

    Returns:
      None where the reply is not understood: no reading of it, or one that is right and one that is a known slip.

    >>> judge(number("log 1?", 0.0, 0.01, wrong={1.0: "That is exp 0."}), "1,0")
    (False, 'That is exp 0.')
    """
    if question["kind"] == "choice":
        return reply == question["right"], question["messages"][reply]
    read = readings(str(reply), question["unit"])

    def near(value: float) -> bool:
        return any(abs(number - value) <= question["tolerance"] for number in read)

    right = near(question["answer"])
    slip = next((wrong["message"] for wrong in question["wrong"] if near(wrong["value"])), None)
    if not read or (right and slip is not None):
        return None
    return (True, "") if right else (False, question["otherwise"] if slip is None else slip)


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
    return Figure({}, View("quiz", {"questions": list(questions), "words": words}, needs=["base"]), static)


def _folded(question: dict[str, Any], words: Mapping[str, str]) -> str:
    """One question with its answers, folded: what stands in where no script runs."""
    title = html.escape(words["question"])
    right = words["right"] + (": " + question["because"] if question["because"] else ".")
    if question["kind"] == "choice":
        options = "".join(f"<li>{_marked_up(text)}</li>" for text in question["answers"])
        asked = f"{_marked_up(question['question'])}</p><ul>{options}</ul>"
        said = [
            (text, right if token == question["right"] else message)
            for token, (text, message) in enumerate(zip(question["answers"], question["messages"], strict=True))
        ]
    else:
        asked = f"{_marked_up(question['question'])}</p>"
        said = [(_typed(question, question["answer"]), right)]
        said += [(_typed(question, wrong["value"]), wrong["message"]) for wrong in question["wrong"]]
    answers = "".join(f"<dt>{_marked_up(text)}</dt><dd>{_marked_up(message)}</dd>" for text, message in said)
    folded = f"<details><summary>{html.escape(words['answers'])}</summary><dl>{answers}</dl></details>"
    return f"<p><strong>{title}.</strong> {asked}{folded}"


def _typed(question: Mapping[str, Any], value: float) -> str:
    """A value in six digits, or in as many as the tolerance asks for."""
    texts = (f"{value:.{digits}g}" for digits in range(6, 18))
    return next(text for text in texts if abs(float(text) - value) <= question["tolerance"])


# In one pass, as in quiz.js: a star inside code is a star.
MARKS = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^\s*][^*]*)\*")


def _marked_up(text: str) -> str:
    """Escaped text, in which `backticks` make code, *one star* emphasis and **two** stress."""

    def element(mark: re.Match[str]) -> str:
        ((tag, inside),) = ((tag, inside) for tag, inside in mark.groupdict().items() if inside)
        return f"<{tag}>{inside}</{tag}>"

    return MARKS.sub(element, html.escape(text))
