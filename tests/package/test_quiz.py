"""Quick checks: what an author may write, and that the browser answers each reply as it should."""

import html
import re

import numpy as np
import pytest

from lmhead import quiz
from tests.support.views import Script
from tools.pins import NOTEBOOKS, views

SHAPE = quiz.choice(
    "Shape of `h @ W_U`?",
    {"(7, 4)": "You transposed the **product**.", "(4, 7)": None, "(4, 5)": "That is `h`."},
    because="positions by vocabulary",
)
BITS = quiz.number(
    "`log 8` nats in bits?", 3.0, 0.01, wrong={2.0794: "These are nats.", -3.0: "A sign was lost."}, because="log2 8"
)


@pytest.fixture(scope="module")
def script():
    return Script(quiz.show(SHAPE).view._esm)


@pytest.fixture(scope="module")
def judge(script):
    """What the browser answers, which has to be what Python answers."""

    def both(question, reply):
        theirs = script.call("judge", question, reply)
        ours = quiz.judge(question, reply)
        assert (theirs and (theirs["right"], theirs["message"])) == ours, (question["question"], reply)
        return ours

    return both


def test_each_choice_gets_its_own_message(judge):
    assert [judge(SHAPE, at)[0] for at in range(3)] == [False, True, False]
    assert [judge(SHAPE, at)[1] for at in (0, 2)] == ["You transposed the **product**.", "That is `h`."]


@pytest.mark.parametrize(
    ("reply", "right", "message"),
    [
        ("3.0", True, ""),
        ("3.0099", True, ""),
        ("2,9901", True, ""),
        ("3 bits", True, ""),
        ("3.02", False, quiz.OTHERWISE),
        ("2.08", False, "These are nats."),
        ("−2.995", False, "A sign was lost."),
        ("0", False, quiz.OTHERWISE),
    ],
)
def test_a_number_is_recognised_within_the_tolerance(judge, reply, right, message):
    assert judge({**BITS, "unit": "bits"}, reply) == (right, message)


def test_a_tolerance_of_zero_takes_the_exact_number(judge):
    count = quiz.number("Parameters?", 51_200_000, 0, wrong={100_512: "You added."})
    for reply in ("51200000", "51,200,000", "51 200 000", "51.200.000", "5.12e7", "51_200_000", "5,12 × 10^7"):
        assert judge(count, reply) == (True, "")
    assert judge(count, "100,512") == (False, "You added.")
    assert judge(count, "51200001") == (False, quiz.OTHERWISE)


QUESTIONS = [q for path in NOTEBOOKS for view in views(path.read_text("utf-8")) for q in view.get("questions", [])]
NUMBERS = [question for question in QUESTIONS if question["kind"] == "number"]


@pytest.mark.parametrize("question", NUMBERS, ids=lambda question: question["question"][:50])
def test_every_question_of_the_book_ends_where_its_tolerance_does(judge, question):
    """Each value that it knows is recognised just inside of its tolerance on both sides, and not just outside."""
    known = {question["answer"]: (True, "")}
    known |= {wrong["value"]: (False, wrong["message"]) for wrong in question["wrong"]}
    size = max(map(abs, known))
    for value, verdict in known.items():
        for side in (-1, 1):
            inside, outside = (value + side * (way * question["tolerance"]) for way in (0.999, 1.001))
            assert judge(question, f"{inside:.15g}") == verdict
            assert judge(question, f"{outside + side * 1e-9 * size:.15g}") != verdict


def test_a_comma_before_three_digits_is_read_as_the_question_knows_it(judge):
    loss = quiz.number("Loss?", 1.4402, 0.001, wrong={-1.4402: "A sign was lost."})
    assert judge(loss, "1,440") == judge(loss, "1.440") == (True, "")
    assert judge(loss, "−1,440") == (False, "A sign was lost.")
    assert judge(loss, "1,450") == (False, quiz.OTHERWISE)
    tokens = quiz.number("Tokens?", 49_152, 0, wrong={576: "That is d_model."})
    assert judge(tokens, "49,152") == judge(tokens, "49152") == (True, "")
    assert judge(tokens, "49.152") == (False, quiz.OTHERWISE)
    thousands = quiz.number("How many thousand?", 1.44, 0.001, wrong={1440.0: "Divide by a thousand."})
    assert judge(thousands, "1,440") is None, "right in one reading and a slip in the other"
    assert judge(thousands, "1.44") == (True, "") and judge(thousands, "1440") == (False, "Divide by a thousand.")


# what is typed -> what it may mean
TYPED = {
    "1.4402": [1.4402], "1,44": [1.44], "1,4402": [1.4402], "1,440": [1.44, 1440], "0,440": [0.44], "1.440": [1.44],
    "-1.44": [-1.44], "−1.44": [-1.44], "–1.44": [-1.44], "- 1.44": [-1.44], "+1": [1], "+ 1,5": [1.5],
    "1 440": [1440], "1\u00a0440": [1440], "1\u202f440,5": [1440.5], "1'440": [1440], "1’440.25": [1440.25],
    "1_440": [1440], "1.234,5": [1234.5], "1,234.5": [1234.5], "1.440,2": [1440.2], "1.234.567": [1234567],
    "1,234,567": [1234567], "1 234 567.5": [1234567.5], "1,234,567.25": [1234567.25], ".5": [0.5], ",5": [0.5],
    "5.": [5], "5,": [5], "-.5": [-0.5], "1e-3": [0.001], "1E3": [1000], "1,5e−3": [0.0015], "1.5e+3": [1500],
    "2×10^-3": [0.002], "2 x 10^3": [2000], "2*10**3": [2000], "2·10^3": [2000], "１．４４": [1.44],
    "－１，４４": [-1.44], "１。４４": [1.44], "١": [1], "١٫٥": [1.5], "۱۲": [12], "  7  ": [7], "007": [7], "0": [0],
    "0.000": [0], "1,440e3": [1440, 1440000], "12,345": [12.345, 12345], "123,456": [123.456, 123456],
    "1234,567": [1234.567], "1,2345": [1.2345], "1e-320": [1e-320],
    **{text: [] for text in [
        "", " ", "abc", "1.4.4", "1,4,4", "--1", "+-1", "-", "+", ".", ",", "e5", "5e", "1e", "1e1.5", "1/2", "50 %",
        "50%", "inf", "-inf", "Infinity", "nan", "NaN", "∞", "1e999", "0x10", "1 44", "12 34", "1 2345", "1  2",
        "1,23,456", "1 234,567.8", "1.234,567.8", "1,234.567,8", "1_44", "__1", "1__440", "10²", "½", "१", "1.44 nats",
        "1.44 or so", "~1", "=1", "(1)", "1-2", "1−", "1\n2", "1 e 3 e 3", "log 2", "2 ** 3", "1e5e5", "一",
    ]},
}  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_what_is_typed_is_read_or_not_understood(script, typed):
    assert script.call("readings", typed, "") == quiz.readings(typed) == TYPED[typed]


def test_both_read_alike_whatever_is_typed(script):
    rng = np.random.default_rng(0)
    letters = np.array([*"0123456789" * 2, *"....,,,,   --+eE'’_×*^xn%/−–１，．。٠٫٬\u00a0\u2009\u202f\ufeff²½"])
    typed = ["".join(rng.choice(letters, rng.integers(1, 10))) for _ in range(20_000)]
    grouped = [f"{n:,}".replace(",", mark) for n in rng.integers(0, 10**9, 500).tolist() for mark in ", .'_"]
    numbers = [
        f"{x:{form}}" for x in rng.normal(size=500) * 10.0 ** rng.integers(-9, 9, 500) for form in (".6g", ".3f", "e")
    ]
    every = [*typed, *grouped, *numbers]
    ours = [quiz.readings(text, unit) for text in every for unit in ("", "n", "%")]
    theirs = script.call('((all) => all.flatMap((text) => ["", "n", "%"].map((unit) => readings(text, unit))))', every)
    assert theirs == ours
    assert sum(map(bool, ours)) > 5000
    assert [quiz.readings(text) for text in numbers] == [[float(text)] for text in numbers]


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
    assert "You transposed the <strong>product</strong>." in folded and "Right: positions by vocabulary" in folded
    assert static.count("<details>") == 2
    for text, message in (("3", "Right: log2 8"), ("2.0794", "These are nats."), ("-3", "A sign was lost.")):
        assert f"<dt>{text}</dt><dd>{message}</dd>" in static


def test_an_answer_without_scripts_is_as_exact_as_the_tolerance():
    static = quiz.show(quiz.number("?", 1_234_567.0, 0, wrong={0.1234567891: "tiny"})).static
    assert "<dt>1234567</dt>" in static and "<dt>0.1234567891</dt>" in static


def test_each_text_of_the_book_is_marked_up_alike_by_both(script):
    """Code without its backticks, emphasis without its stars: the elements of the script, written as HTML."""
    written = """((texts) => texts.map((text) => element("p", {}, markedUp(text)).children.map((one) => one.tag
      ? `<${one.tag}>${one.children.join("")}</${one.tag}>` : one).join("")))"""
    fields = [[q["question"], q["because"], *q.get("answers", []), *q.get("messages", [])] for q in QUESTIONS]
    fields += [[q["otherwise"], *(wrong["message"] for wrong in q["wrong"])] for q in NUMBERS]
    texts = [text for some in fields for text in some]
    theirs = script.call(written, texts)
    assert theirs == [html.unescape(quiz._marked_up(text)) for text in texts]
    assert not any("`" in text for text in theirs)
    assert {tag for text in theirs for tag in re.findall(r"<(code|em|strong)>", text)} == {"code", "em", "strong"}


# Asks questions, gives each a reply that is not understood, and gives the attributes of all that stands in each form.
ASKED = """((questions, words) => {
  const flat = (one) => one.tag ? [one, ...one.children.flatMap(flat)] : [];
  patch = (form, wanted) => { form.all = wanted.flatMap(flat); };
  const forms = questions.map((question) => {
    const form = {};
    ask(form, question, words);
    const { onchange, oninput } = form.all.find(({ tag }) => tag === "input").attributes;
    (oninput ?? onchange)({ target: { value: "?" } });
    form.onsubmit({ preventDefault() {} });
    return form;
  });
  return forms.map(({ all }) => all.map(({ attributes }) => attributes));
})"""


def test_what_belongs_to_a_question_is_found_in_its_own_form():
    """Its answer, which a field that was not understood refers to; its choices, of which one excludes the others.

    In JupyterLab each cell runs the script for itself, so here each half of the questions does.
    """
    half = len(QUESTIONS) // 2
    forms = [
        form
        for asked in (QUESTIONS[:half], QUESTIONS[half:])
        for form in Script(quiz.show(SHAPE).view._esm).call(ASKED, asked, quiz.WORDS)
    ]
    ids = [[one["id"] for one in form if "id" in one] for form in forms]
    assert len({name for names in ids for name in names}) == sum(map(len, ids)), "two things have one id"
    groups = [{one["name"] for one in form if one.get("type") == "radio"} for form in forms]
    for question, form, names, group in zip(QUESTIONS, forms, ids, groups, strict=True):
        referred = [one["aria-describedby"] for one in form if "aria-describedby" in one]
        assert len(referred) == (question["kind"] == "number") and set(referred) <= set(names)
        assert len(group) == (question["kind"] == "choice")
    assert len(set().union(*groups)) == sum(map(len, groups)), "choices of two questions exclude each other"


def test_markup_in_a_text_cannot_break_the_page():
    static = quiz.show(quiz.choice("<script>alert(1)</script>", {"<b>": None, "&": "`<i>`"})).static
    assert "<script>" not in static and "<b>" not in static and "<code>&lt;i&gt;</code>" in static


def test_a_star_in_code_is_a_star():
    static = quiz.show(quiz.choice("?", {"*one* **two**": None, "b": "`E *= 2` writes; `E = 2 * E` does not."})).static
    assert "<code>E *= 2</code> writes; <code>E = 2 * E</code> does not." in static
    assert "<em>one</em> <strong>two</strong>" in static
