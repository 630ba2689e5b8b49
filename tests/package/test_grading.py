"""The form of the checkers that grades: points for kinds of case, an exception for nothing, and no verb called."""

import functools
import sys

import numpy as np
import pytest

import lmhead
from lmhead import check
from lmhead.check import grading
from lmhead.check.grading import NotRightError, grade
from tests.package.test_check import CHECKERS, exercise


def my_cross_entropy(z, y):
    return np.log(np.exp(z).sum()) - z[y]


def my_top_p(z, p):
    order = np.argsort(-np.asarray(z), kind="stable")
    ranked = lmhead.softmax(z)[order]
    return np.where(np.isin(np.arange(len(z)), order[np.cumsum(ranked) - ranked < p]), z, -np.inf)


def my_write(ids, n, E, body, W_U):
    for _ in range(n):
        ids = [*ids, int(np.argmax(body(E[ids])[-1] @ W_U))]
    return ids


@pytest.mark.parametrize(
    ("checker", "yours"), [(check.cross_entropy, my_cross_entropy), (check.write, my_write)], ids=["plain", "a body"]
)
def test_a_right_answer_earns_all(checker, yours, capsys) -> None:
    earned = grade(checker, yours, points=3)
    assert (type(earned), earned) == (float, 3.0)  # np.float64 prints as a call, which a grader takes for full marks
    assert capsys.readouterr().out.startswith("Right: all ")


@pytest.mark.parametrize("name", CHECKERS)
def test_a_stub_earns_nothing(name) -> None:
    with pytest.raises(NotRightError, match=r"^Not written yet: replace the"):
        grade(getattr(check, name), lambda *arguments: ..., points=2)


def test_an_answer_that_is_wrong_everywhere_raises_what_the_checker_says() -> None:
    with pytest.raises(NotRightError, match=r"^Not yet: each token as the target (.|\n)*log2"):
        grade(check.cross_entropy, lambda z, y: my_cross_entropy(z, y) / np.log(2), points=2)


@pytest.mark.parametrize(
    ("points", "earned"),
    [(1, 0.33), (3, 1.0), (np.float32(3), 1.0)],
)
def test_part_of_the_points_for_part_of_the_kinds(points, earned, capsys) -> None:
    """Characters for bytes: right in English, wrong with accents and in Chinese."""
    got = grade(check.bits_per_byte, lambda losses, text: losses.sum() / np.log(2) / len(text), points)
    assert (type(got), got) == (float, earned)
    assert f"1 of 3 kinds of case pass: {earned} of {points} points." in capsys.readouterr().out


def test_a_kind_passes_with_all_its_cases_only(capsys) -> None:
    kinds = exercise("cross_entropy").kinds
    assert len(kinds[0].cases) > 1
    seen = []

    def wrong_at_the_first(z, y):
        seen.append(y)
        return 0.0 if len(seen) == 1 else my_cross_entropy(z, y)

    assert grade(check.cross_entropy, wrong_at_the_first, points=len(kinds)) == len(kinds) - 1


class Called:
    def __call__(self, z):
        return lmhead.softmax(z)


def with_helper(z):
    def helper():
        return next(map(lmhead.softmax, [z]))

    return helper()


def for_large_logits_alone(z):
    return lmhead.softmax(z) if np.max(z) > 100 else np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    "yours",
    [
        lmhead.softmax,
        for_large_logits_alone,
        lambda z: lmhead.softmax(z),
        lambda z: np.exp(lmhead.log_softmax(z)),
        functools.partial(lmhead.softmax, axis=-1),
        np.vectorize(lmhead.softmax, signature="(n)->(n)"),
        Called(),
        with_helper,
        exercise("softmax").right,
        lambda z: getattr(sys.modules["lmhead.probabilities"], "soft" + "max")(z),
    ],
)
def test_an_answer_that_calls_lmhead_is_seen(yours) -> None:
    with pytest.raises(NotRightError, match=r"^your function calls lmhead\.\S+: write it yourself$"):
        grade(check.softmax, yours)
    assert sys.getprofile() is None


def test_an_answer_calls_what_it_may_and_no_more() -> None:
    assert grade(check.top_p, my_top_p, may_call=["softmax"]) == 1.0
    with pytest.raises(NotRightError, match=r"calls lmhead.probabilities.softmax"):
        grade(check.top_p, my_top_p)
    with pytest.raises(NotRightError, match=r"calls lmhead.decoding.top_p"):
        grade(check.top_p, lambda z, p: lmhead.top_p(z, p), may_call=["softmax"])


def test_a_checker_that_was_replaced_is_none(monkeypatch) -> None:
    monkeypatch.setattr(check, "softmax", lambda yours: print("Right: all 10 cases pass."))
    with pytest.raises(TypeError, match=r"^grade takes a checker, such as lmhead.check.softmax; got <function"):
        grade(check.softmax, lambda z: z)


def test_every_checker_can_grade() -> None:
    assert [name for name in CHECKERS if grading.exercise_of(getattr(check, name)).right is None] == []


def test_a_notebook_shows_what_the_checker_says_and_no_code() -> None:
    with pytest.raises(NotRightError) as raised:
        grade(check.cross_entropy, lambda z, y: 0.0)
    assert isinstance(raised.value, AssertionError)
    assert raised.value._render_traceback_() == [str(raised.value)]
