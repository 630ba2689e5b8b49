"""Quick checks: what an author may write, and that the browser answers each reply as it should."""

import json

import pytest
from py_mini_racer import MiniRacer

from lmhead import quiz
from lmhead.widgets import _view

SHAPE = quiz.choice(
    "Shape of `h @ W_U`?",
    {"(7, 4)": "You transposed the **product**.", "(4, 7)": None, "(4, 5)": "That is `h`."},
    because="positions by vocabulary",
)
BITS = quiz.number(
    "`log 8` nats in bits?", 3.0, 0.01, wrong={2.0794: "These are nats.", -3.0: "A sign was lost."}, because="log2 8"
)


@pytest.fixture(scope="module")
def judge():
    racer = MiniRacer()
    racer.eval(_view.source(["base", "quiz"], "js").replace("export default", "const view ="))
    return lambda question, reply: json.loads(
        racer.eval(f"JSON.stringify(judge({json.dumps(question)}, {json.dumps(reply)}))")
    )


def test_each_choice_gets_its_own_message(judge):
    assert [judge(SHAPE, at)["right"] for at in range(3)] == [False, True, False]
    assert [judge(SHAPE, at)["message"] for at in (0, 2)] == ["You transposed the **product**.", "That is `h`."]


@pytest.mark.parametrize(
    ("reply", "right", "message"),
    [
        (3.0, True, ""),
        (3.0099, True, ""),
        (2.9901, True, ""),
        (3.02, False, quiz.OTHERWISE),
        (2.08, False, "These are nats."),
        (-2.995, False, "A sign was lost."),
        (0.0, False, quiz.OTHERWISE),
    ],
)
def test_a_number_is_recognised_within_the_tolerance(judge, reply, right, message):
    assert judge(BITS, reply) == {"right": right, "message": message}


def test_a_tolerance_of_zero_takes_the_exact_number(judge):
    count = quiz.number("Parameters?", 51_200_000, 0, wrong={100_512: "You added."})
    assert judge(count, 51_200_000)["right"] and judge(count, 100_512)["message"] == "You added."
    assert judge(count, 51_200_001) == {"right": False, "message": quiz.OTHERWISE}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: quiz.choice("?", {"a": "no", "b": "no"}), "exactly one answer must be right"),
        (lambda: quiz.choice("?", {"a": None, "b": None}), "exactly one answer must be right"),
        (lambda: quiz.choice("?", {"a": None}), "each wrong answer needs its misconception"),
        (lambda: quiz.choice("?", {"a": None, "b": " "}), r"needs its misconception; none for \['b'\]"),
        (lambda: quiz.number("?", 1.0, 0.1, wrong={}), "at least one wrong value"),
        (lambda: quiz.number("?", 1.0, 0.1, wrong={2.0: ""}), "each one's misconception"),
        (lambda: quiz.number("?", 1.0, 0.1, wrong={1.15: "near"}), "cannot be told apart"),
        (lambda: quiz.number("?", 1.0, 0.1, wrong={3.0: "a", 3.1: "b"}), "cannot be told apart"),
        (lambda: quiz.number("?", float("nan"), 0.1, wrong={3.0: "a"}), "must be finite"),
        (lambda: quiz.number("?", 1.0, -0.1, wrong={3.0: "a"}), "tolerance not negative"),
        (lambda: quiz.show(), "at least one question"),
    ],
)
def test_an_authors_slip_is_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


def test_without_scripts_the_answers_are_folded():
    static = quiz.show(SHAPE, BITS).static
    before, folded = static.split("<details>")[:2]
    assert "<code>h @ W_U</code>" in before and "(4, 7)" in before and "transposed" not in before
    assert "You transposed the <strong>product</strong>." in folded and "Right. positions by vocabulary" in folded
    assert static.count("<details>") == 2
    for text, message in (("3", "Right. log2 8"), ("2.0794", "These are nats."), ("-3", "A sign was lost.")):
        assert f"<dt>{text}</dt><dd>{message}</dd>" in static


def test_markup_in_a_text_cannot_break_the_page():
    static = quiz.show(quiz.choice("<script>alert(1)</script>", {"<b>": None, "&": "`<i>`"})).static
    assert "<script>" not in static and "<b>" not in static and "<code>&lt;i&gt;</code>" in static
