"""The form of the checkers that grades: `grade(check.softmax, my_softmax, points=2)` gives points, or raises.

A checker prints and returns None, whatever it found: an autograder that looks for errors would take every answer for
right. `grade` gives partial credit by kinds of case, and raises where there is nothing to give. What it returns is a
plain float, since graders read the printed value, and `np.float64(1.0)` is none to them.

An answer that calls the verb which it should write is wrong, however right its numbers. Each call from the answer into
lmhead is seen as it happens, under whatever name. Whoever wants to can still deceive it: the answer runs in the same
process.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

import lmhead
from lmhead.check.run import Exercise, Function, call, cases_of, examine

__all__ = ["NotRightError", "grade"]

LMHEAD = os.path.dirname(lmhead.__file__) + os.sep


class NotRightError(AssertionError):
    """An answer that earns nothing; a notebook shows what the checker says, and no lines of the checker's code."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def grade(
    checker: Callable[[Function], None], yours: Function, points: float = 1.0, *, may_call: Iterable[str] = ()
) -> float:
    """`points`, times the share of the kinds of case that pass; what the checker says is printed.

    Args:
        checker: one of `lmhead.check`.
        yours: the function to be graded.
        points: what a right answer earns.
        may_call: names of `lmhead` that an answer may use, such as `"softmax"`.

    Raises:
        NotRightError: no kind of case passes, with what the checker says; or the answer calls another function of
            lmhead than it may.
        TypeError: `checker` is none, or `yours` is no function.

    >>> import numpy as np
    >>> from lmhead import check
    >>> grade(check.bits_per_byte, lambda losses, text: losses.sum() / np.log(2) / len(text), points=3)
    Not yet: letters with accents (case 4 of 7).
      input     losses = [3.0, 2.0], text = 'crème'
      got       1.4427
      expected  1.2022
      Looks like: You count characters. Beyond English a character is 2 to 4 bytes:
      len(text.encode()).
    1 of 3 kinds of case pass: 1.0 of 3 points.
    1.0
    >>> grade(check.softmax, lmhead.softmax)
    Traceback (most recent call last):
    lmhead.check.grading.NotRightError: your function calls lmhead.probabilities.softmax: write it yourself
    """
    exercise = exercise_of(checker)
    result = examine(yours, exercise)
    if called := next(calls_into_lmhead(yours, exercise, may_call), None):
        raise NotRightError(f"your function calls {called}: write it yourself")
    kinds = result.by_kind()
    passed = sum(right == cases for right, cases in kinds.values())
    if not passed:
        raise NotRightError(result.text)
    print(result.text)
    earned = round(float(points) * passed / len(kinds), 2)
    if not result.right:
        print(f"{passed} of {len(kinds)} kinds of case pass: {earned} of {points} points.")
    return earned


def exercise_of(checker: Callable[[Function], None]) -> Exercise:
    """What a checker knows; it stands in the checker's module under the same name in capitals."""
    name = getattr(checker, "__name__", "")
    exercise = getattr(sys.modules.get(getattr(checker, "__module__", "")), name.upper(), None)
    if not isinstance(exercise, Exercise):
        raise TypeError(f"grade takes a checker, such as lmhead.check.softmax; got {checker!r}")
    return exercise


def calls_into_lmhead(yours: Function, exercise: Exercise, may_call: Iterable[str]) -> Iterator[str]:
    """The functions of lmhead that `yours` calls on the cases of an exercise, but for those that it may."""
    allowed = {inspect.unwrap(getattr(lmhead, name)).__code__ for name in may_call}
    for case in cases_of(exercise):
        given = {f.__code__ for f in case.arguments.values() if hasattr(f, "__code__")}  # a function to work with
        seen: list[str] = []
        call(watched(yours, allowed | given, seen), case)
        yield from seen


def watched(yours: Function, allowed: set[CodeType], seen: list[str]) -> Function:
    """`yours`, which as it runs notes the calls into lmhead that come from it and from nothing allowed."""

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not of_lmhead(frame):
            return
        entered = frame  # where the answer left its own code
        caller: FrameType | None = frame
        while caller is not None and caller.f_code is not watching.__code__:
            if caller.f_code in allowed:
                return
            entered = caller if of_lmhead(caller) else entered
            caller = caller.f_back
        seen.append(f"{entered.f_globals['__name__']}.{entered.f_code.co_name}")

    def watching(*arguments: Any) -> Any:
        sys.setprofile(note)
        try:
            return yours(*arguments)
        finally:
            sys.setprofile(None)

    return watching


def of_lmhead(frame: FrameType) -> bool:
    """Whether a frame's code stands in lmhead's files."""
    return frame.f_code.co_filename.startswith(LMHEAD)
