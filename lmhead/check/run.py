"""Runs a learner's function over hidden cases and prints one short result.

A fault is named in two steps. The first kind of case that fails is shown with its input. Then the learner's results
are compared with those of the well-known wrong solutions: one that gives the same results names the misconception.
"""

from __future__ import annotations

import copy
import dis
import inspect
import textwrap
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lmhead._arguments import Array
from lmhead.check.show import as_numbers, shape_text, show, show_arguments, show_both

Function = Callable[..., Any]

RTOL = 1e-5  # float32 results pass
WIDTH = 96
NO_WORK = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}  # the bytecode of an empty function


class Kind(NamedTuple):
    """Cases of one kind, and what a failure there usually means; an exercise lists its kinds from easy to hard."""

    name: str
    hint: str
    cases: list[tuple[Any, ...]]
    max_bytes: int | None = None  # what the function may hold in memory at once
    if_equal: str | None = None  # what it means if this kind fails with one and the same finite result in all cases


class Mistake(NamedTuple):
    """A well-known wrong solution, and the misconception behind it."""

    wrong: Function
    meaning: str


class Exercise(NamedTuple):
    """What a checker knows: the right solution, the cases, and the well-known mistakes."""

    right: Function
    kinds: list[Kind]
    mistakes: list[Mistake]
    atol: float = 1e-6


class Outcome(NamedTuple):
    """What came out of one call."""

    value: Any = None
    raised: Exception | None = None
    changed: str | None = None  # the name of an argument that was written into
    too_big: bool = False  # more memory at once than the case allows


class Case(NamedTuple):
    """One call: arguments by name, and the kind that it belongs to."""

    kind: Kind
    arguments: dict[str, Any]


def draw(seed: int, *shape: int) -> Array:
    """Normal numbers with one decimal, short to print; the same at every run."""
    return np.random.default_rng(seed).normal(scale=2.0, size=shape).round(1) + 0.0


def run(yours: Function, exercise: Exercise) -> None:
    """Print the verdict on `yours`; a `TypeError` if it is no function."""
    if not callable(yours):
        raise TypeError(f"pass your function itself, without calling it; got {show(yours)}")
    print(verdict(yours, exercise))


def verdict(yours: Function, exercise: Exercise) -> str:
    """The short result as text: right, not written yet, or the first kind of case that fails."""
    name = getattr(yours, "__name__", "<no name>")
    name = "your function" if name.startswith("<") else name
    cases = cases_of(exercise)
    got = [call(yours, case) for case in cases]
    if looks_unwritten(yours, got):
        return f"Not written yet: replace the ... in {name}."
    if all(is_nothing(outcome) for outcome in got):
        return f"Not yet: {name} returns nothing yet, None in every case. Is the return missing?"
    expected = [exercise.right(*case.arguments.values()) for case in cases]
    for number, (case, outcome, right) in enumerate(zip(cases, got, expected, strict=True), start=1):
        problem = problem_with(outcome, right, exercise.atol)
        if problem is not None:
            where = f"{case.kind.name} (case {number} of {len(cases)})"
            advice = advice_on(problem, case, got, cases, exercise)
            return "\n".join([*problem_lines(problem, name, where, case, outcome, right), advice])
    return f"Right: all {len(cases)} cases pass."


def cases_of(exercise: Exercise) -> list[Case]:
    """All cases in order, their arguments named as the right solution names them."""
    names = list(inspect.signature(exercise.right).parameters)
    return [Case(kind, dict(zip(names, arguments, strict=True))) for kind in exercise.kinds for arguments in kind.cases]


def call(function: Function, case: Case) -> Outcome:
    """Call `function` on a copy of the arguments, and see what it does to them."""
    given = copy.deepcopy(case.arguments)
    too_big = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if case.kind.max_bytes is None:
                value = function(*given.values())
            else:
                value, peak = traced(function, list(given.values()))
                too_big = peak > case.kind.max_bytes
        except Exception as error:
            return Outcome(raised=error)
    changed = [name for name, before in case.arguments.items() if not np.array_equal(given[name], before)]
    return Outcome(value, changed=changed[0] if changed else None, too_big=too_big)


def traced(function: Function, arguments: list[Any]) -> tuple[Any, int]:
    """The function's value and the most bytes it held at once; NumPy reports its arrays to tracemalloc."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        value = function(*arguments)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not was_tracing:
            tracemalloc.stop()
    return value, peak - before


def looks_unwritten(yours: Function, got: list[Outcome]) -> bool:
    """True for a stub: it gives `...`, computes with it, raises NotImplementedError, or has no body but `...`s."""
    if any(outcome.value is ... for outcome in got):
        return True
    if any(isinstance(o.raised, NotImplementedError) or "ellipsis" in str(o.raised) for o in got):
        return True
    code = getattr(yours, "__code__", None)
    if code is None or not all(is_nothing(outcome) for outcome in got):
        return False
    steps = list(dis.get_instructions(code))
    if all(step.opname in NO_WORK for step in steps):  # compiling leaves nothing of a body of `...`
        return True
    reads = any(step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")) for step in steps)
    return not reads and any(step.argval is ... for step in steps)


def is_nothing(outcome: Outcome) -> bool:
    """True if the call came back with None."""
    return outcome.value is None and outcome.raised is None


def problem_with(outcome: Outcome, right: Any, atol: float) -> str | None:
    """What is wrong with an outcome, in the order in which a learner should mend it; None if nothing is."""
    if outcome.raised is not None:
        return "raised"
    if outcome.changed:
        return "changed"
    if right is None or outcome.value is None:
        return None if outcome.value is right else "value"
    got, expected = as_numbers(outcome.value), np.asarray(right)
    if got is None or (expected.dtype.kind in "iu" and got.dtype.kind == "f"):
        return "type"
    if got.shape != expected.shape:
        return "shape"
    if np.isnan(got).any():
        return "nan"
    if not np.allclose(got, expected, rtol=RTOL, atol=atol):
        return "value"
    return "memory" if outcome.too_big else None


def problem_lines(problem: str, name: str, where: str, case: Case, outcome: Outcome, right: Any) -> list[str]:
    """What failed, on which input, and what came out instead."""
    arguments = show_arguments(case.arguments)
    if problem == "raised":
        first_line = str(outcome.raised).partition("\n")[0]
        error = f"{type(outcome.raised).__name__}: {first_line}" if first_line else type(outcome.raised).__name__
        return [f"Not yet: {name} raises {error}, {where}: {arguments}"]
    head = {
        "changed": f"Not yet: {name} changes its argument {outcome.changed}",
        "type": "Not yet: wrong type",
        "shape": "Not yet: wrong shape",
        "nan": "Not yet: NaN",
        "memory": "Not yet: too much memory at once",
        "value": "Not yet",
    }[problem]
    lines = [f"{head}{':' if problem == 'value' else ','} {where}.", input_lines(case.arguments)]
    if problem in ("changed", "memory"):
        return lines
    if problem == "shape":
        got, expected = shape_text(outcome.value), shape_text(right)
    else:
        got, expected = show_both(outcome.value, right)
    return [*lines, f"  got       {got}", f"  expected  {expected}"]


def input_lines(arguments: dict[str, Any]) -> str:
    """The arguments in one line if it is short, else one a line."""
    line = f"  input     {show_arguments(arguments)}"
    if len(line) <= WIDTH:
        return line
    return "  input     " + "\n            ".join(f"{name} = {show(value)}" for name, value in arguments.items())


def advice_on(problem: str, case: Case, got: list[Outcome], cases: list[Case], exercise: Exercise) -> str:
    """The misconception that explains the results, or else what a failure of this kind usually means."""
    if problem == "changed":
        said = "The caller still needs it. Work on a copy: x = x - m makes a new array, x -= m writes into the old one."
    elif meaning := diagnosis(case.kind, got, cases, exercise):
        said = f"Looks like: {meaning}"
    elif problem == "nan":
        said = f"NaN comes from inf - inf, inf / inf or 0 / 0. {case.kind.hint}"
    else:
        said = case.kind.hint
    return textwrap.fill(said, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def diagnosis(failed: Kind, got: list[Outcome], cases: list[Case], exercise: Exercise) -> str | None:
    """The meaning of the mistake that agrees with `got` on all of the failed kind, and on most cases besides."""
    best, most = None, 0
    for mistake in exercise.mistakes:
        theirs = [call(mistake.wrong, case) for case in cases]
        agrees = [same(a, b, exercise.atol) for a, b in zip(got, theirs, strict=True)]
        explains = all(agree for agree, case in zip(agrees, cases, strict=True) if case.kind is failed)
        if explains and sum(agrees) > most:
            best, most = mistake.meaning, sum(agrees)
    return best or (failed.if_equal if all_equal(got, cases, failed) else None)


def all_equal(got: list[Outcome], cases: list[Case], kind: Kind) -> bool:
    """True if the results of a kind are one and the same finite number or array."""
    results = [outcome for outcome, case in zip(got, cases, strict=True) if case.kind is kind]
    first = as_numbers(results[0].value)
    return first is not None and bool(np.isfinite(first).all()) and all(same(r, results[0], 0) for r in results)


def same(a: Outcome, b: Outcome, atol: float) -> bool:
    """True if two calls failed alike or gave the same value."""
    if a.raised is not None or b.raised is not None:
        return type(a.raised) is type(b.raised) and str(a.raised) == str(b.raised)
    x, y = as_numbers(a.value), as_numbers(b.value)
    if x is None or y is None:
        return a.value is None and b.value is None
    return x.shape == y.shape and np.allclose(x, y, rtol=RTOL, atol=atol, equal_nan=True)
