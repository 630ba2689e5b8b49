"""Examines a learner's function over hidden cases. `examine` gives a `Result`; `run` prints what it says.

A fault is named in two steps. The first kind of case that fails is shown with its input. If the numbers are right and
only their type, shape or precision is not, that is said and nothing else. Otherwise the learner's results are compared
with those of the well-known wrong solutions: one that gives the same results names the misconception.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import inspect
import io
import re
import textwrap
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lmhead._arguments import Array
from lmhead.check.show import as_numbers, numbers_within, shape_text, show, show_arguments, show_both

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
    numbers: Array | None = None  # a copy of the value as an array, if it is numbers
    raised: BaseException | None = None
    changed: str | None = None  # the name of an argument that was written into
    too_big: bool = False  # more memory at once than the case allows
    printed: str = ""


class Case(NamedTuple):
    """One call: arguments by name, and the kind that it belongs to."""

    kind: Kind
    arguments: dict[str, Any]


class Result(NamedTuple):
    """What `examine` found: the verdict as text, and for every case what is wrong there (None: nothing)."""

    text: str
    cases: list[Case]
    problems: list[str | None]

    @property
    def right(self) -> bool:
        """True if every case passes."""
        return not any(self.problems)

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """For each kind of case how many of its cases pass, and how many it has."""
        passed: dict[str, list[bool]] = {}
        for case, problem in zip(self.cases, self.problems, strict=True):
            passed.setdefault(case.kind.name, []).append(problem is None)
        return {name: (sum(each), len(each)) for name, each in passed.items()}


def draw(seed: int, *shape: int) -> Array:
    """Normal numbers with one decimal, short to print; the same at every run."""
    return np.random.default_rng(seed).normal(scale=2.0, size=shape).round(1) + 0.0


def run(yours: Function, exercise: Exercise) -> None:
    """Print the verdict on `yours`; a `TypeError` if it is no function."""
    print(examine(yours, exercise).text)


@np.errstate(all="ignore")  # whatever the notebook has set
def examine(yours: Function, exercise: Exercise) -> Result:
    """Call `yours` on every case and judge what comes out; a `TypeError` if it is no function."""
    if not callable(yours):
        raise TypeError(f"pass your function itself, without calling it; got {show(yours)}")
    name = getattr(yours, "__name__", "<no name>")
    name = "your function" if name.startswith("<") else name
    cases = cases_of(exercise)
    got = [call(yours, case) for case in cases]
    if looks_unwritten(yours, got):
        return Result(f"Not written yet: replace the ... in {name}.", cases, ["unwritten"] * len(cases))
    if all(is_nothing(outcome) for outcome in got):
        text = f"Not yet: {name} returns nothing yet, None in every case. Is the return missing?"
        return Result(text, cases, ["value"] * len(cases))
    expected = expected_of(exercise)
    problems = [problem_with(outcome, right, exercise.atol) for outcome, right in zip(got, expected, strict=True)]
    if not any(problems):
        return Result(f"Right: all {len(cases)} cases pass.", cases, problems)
    first = next(i for i, problem in enumerate(problems) if problem)
    where = f"{cases[first].kind.name} (case {first + 1} of {len(cases)})"
    lines = problem_lines(str(problems[first]), name, where, cases[first], got[first], expected[first])
    said = advice_on(first, problems, got, expected, cases, exercise)
    lines.append(textwrap.fill(said, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
    return Result("\n".join(lines), cases, problems)


def cases_of(exercise: Exercise) -> list[Case]:
    """All cases in order, their arguments named as the right solution names them."""
    names = list(inspect.signature(exercise.right).parameters)
    return [Case(kind, dict(zip(names, arguments, strict=True))) for kind in exercise.kinds for arguments in kind.cases]


def expected_of(exercise: Exercise) -> list[Any]:
    """What the right solution gives for each case."""
    return [exercise.right(*case.arguments.values()) for case in cases_of(exercise)]


@contextlib.contextmanager
def quietly(printed: io.StringIO) -> Iterator[None]:
    """Keep what is printed for the result; no warnings, and nothing that the function sets lasts."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("ignore")
        yield


def call(function: Function, case: Case) -> Outcome:
    """Call `function` on a copy of the arguments, and see what it does to them."""
    given = copy.deepcopy(case.arguments)
    too_big = False
    printed = io.StringIO()
    with quietly(printed):
        try:
            if case.kind.max_bytes is None:
                value = function(*given.values())
            else:
                value, peak = traced(function, list(given.values()))
                too_big = peak > case.kind.max_bytes
        except (Exception, SystemExit) as error:
            return Outcome(raised=error.with_traceback(None), printed=printed.getvalue())
    if inspect.iscoroutine(value):
        value.close()  # an `async def`: closed, it does not complain later that nobody awaited it
    numbers = as_numbers(value)
    changed = [name for name, before in case.arguments.items() if not unchanged(given[name], before)]
    return Outcome(
        value,
        numbers=None if numbers is None else numbers.copy(),  # the function may write into its own array again
        changed=changed[0] if changed else None,
        too_big=too_big,
        printed=printed.getvalue(),
    )


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
    if any(isinstance(o.raised, NotImplementedError) or computes_with_ellipsis(o.raised) for o in got):
        return True
    code = getattr(yours, "__code__", None)
    if code is None or not all(is_nothing(outcome) for outcome in got):
        return False
    steps = list(dis.get_instructions(code))
    if all(step.opname in NO_WORK for step in steps):  # compiling leaves nothing of a body of `...`
        return True
    reads = any(step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")) for step in steps)
    return not reads and any(step.argval is ... for step in steps)


def computes_with_ellipsis(error: BaseException | None) -> bool:
    """True for the error of `1 + ...`, not for that of an index with two of them."""
    return isinstance(error, TypeError) and "ellipsis" in error_text(error)


def is_nothing(outcome: Outcome) -> bool:
    """True if the call came back with None."""
    return outcome.value is None and outcome.raised is None


def error_text(error: BaseException | None) -> str:
    """An exception in one line that is the same at every run: its type, and the first line of what it says."""
    try:
        first_line = str(error).partition("\n")[0]
    except Exception:  # one whose text raises in its turn
        first_line = ""
    said = f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
    return textwrap.shorten(re.sub(r" at 0x[0-9a-fA-F]+", "", said), 2 * WIDTH, placeholder=" ...")


def problem_with(outcome: Outcome, right: Any, atol: float) -> str | None:
    """What is wrong with an outcome, in the order in which a learner should mend it; None if nothing is."""
    if outcome.raised is not None:
        return "raised"
    if outcome.changed:
        return "changed"
    if right is None or outcome.value is None:
        return None if outcome.value is right else "value"
    got, expected = outcome.numbers, np.asarray(right)
    if got is None or (expected.dtype.kind in "iu" and got.dtype.kind == "f"):
        return "type"
    if got.shape != expected.shape:
        return "shape"
    if np.isnan(got).any():
        return "nan"
    if not close(got, expected, atol):
        return "value"
    return "memory" if outcome.too_big else None


def close(got: Array, expected: Array, atol: float) -> bool:
    """Equal as integers, else within the tolerance; of one shape."""
    if expected.dtype.kind in "iu":
        return np.array_equal(got, expected)
    return np.allclose(got, expected, rtol=RTOL, atol=atol)


def unchanged(now: Any, before: Any) -> bool:
    """True if an argument is as it was; a NaN is equal to itself."""
    return np.array_equal(now, before, equal_nan=getattr(before, "dtype", np.dtype(int)).kind == "f")


def problem_lines(problem: str, name: str, where: str, case: Case, outcome: Outcome, right: Any) -> list[str]:
    """What failed, on which input, and what came out instead."""
    printed = outcome.printed.strip().partition("\n")
    shown = textwrap.shorten(printed[0] + " ..." * bool(printed[1]), WIDTH - 12, placeholder=" ...")
    lines = [f"  printed   {shown}"] if printed[0] else []
    if problem == "raised":
        return [
            f"Not yet: {name} raises {error_text(outcome.raised)}, {where}: {show_arguments(case.arguments)}",
            *lines,
        ]
    head = {
        "changed": f"Not yet: {name} changes its argument {outcome.changed}",
        "type": "Not yet: wrong type",
        "shape": "Not yet: wrong shape",
        "nan": "Not yet: NaN",
        "memory": "Not yet: too much memory at once",
        "value": "Not yet",
    }[problem]
    lines = [f"{head}{':' if problem == 'value' else ','} {where}.", input_lines(case.arguments), *lines]
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


def advice_on(
    first: int,
    problems: list[str | None],
    got: list[Outcome],
    expected: list[Any],
    cases: list[Case],
    exercise: Exercise,
) -> str:
    """What is wrong with the form of the result, or the misconception that explains it, or what usually does."""
    problem, kind = problems[first], cases[first].kind
    if problem == "changed":
        return "The caller still needs it. Work on a copy: x = x - m makes a new array, x -= m writes into the old one."
    forms = [advice_on_form(*each, exercise.atol) for each in zip(problems, got, expected, strict=True)]
    wrong = [i for i, form in enumerate(forms) if problems[i] and not form]
    if wrong and (meaning := diagnosis(kind, wrong, got, expected, cases, exercise)):
        return f"Looks like: {meaning}"
    if form := forms[first]:
        return form
    return f"NaN comes from inf - inf, inf / inf or 0 / 0. {kind.hint}" if problem == "nan" else kind.hint


def advice_on_form(problem: str | None, outcome: Outcome, right: Any, atol: float) -> str | None:
    """What to do if the numbers are right and only their type, shape or precision is not, or if there are none."""
    if problem not in ("type", "shape", "value") or right is None or outcome.value is None:
        return None
    inside, expected = numbers_within(outcome.value), np.asarray(right)
    fits = inside is not None and inside.size == expected.size and close(inside.ravel(), expected.ravel(), atol)
    if problem == "shape":
        return "The numbers are right, only their shape is not." if fits else None
    if problem == "value":
        coarse = outcome.numbers is not None and outcome.numbers.dtype == np.float16
        if coarse and np.allclose(np.asarray(outcome.numbers, float), np.float16(expected), rtol=2**-8, atol=2**-20):
            return "These are the right numbers in float16, which keeps 3 digits. Compute in float32 or float64."
        return None
    asked = "integers" if expected.dtype.kind in "iu" else "ordinary numbers"
    if fits:
        return f"The numbers are right, only their type is not: asked are {asked}."
    if outcome.numbers is not None:
        return None
    if isinstance(outcome.value, np.ma.MaskedArray):
        return f"A mask is lost in the next step: return {asked} in an ordinary array."
    if hasattr(type(outcome.value), "detach"):
        return f"NumPy cannot read this tensor. Asked are {asked}: return x.tolist(), computed in float32 or float64."
    if hasattr(type(outcome.value), "__next__"):
        return f"A generator holds no numbers yet. Asked are {asked}: return list(...) of it."
    return f"Asked are {asked}."


def diagnosis(
    failed: Kind,
    wrong: list[int],
    got: list[Outcome],
    expected: list[Any],
    cases: list[Case],
    exercise: Exercise,
) -> str | None:
    """The meaning of the mistake that agrees with `got` on the whole kind that failed first, and on most cases besides.

    What agrees must be at least half of the cases where `got` is `wrong`, more than half of those where the mistake is,
    and not errors of one type alone.
    """
    best, most = None, 0
    of_kind = [i for i, case in enumerate(cases) if case.kind is failed]
    for mistake in exercise.mistakes:
        if not all(same(got[i], call(mistake.wrong, cases[i]), exercise.atol) for i in of_kind):
            continue
        theirs = [call(mistake.wrong, case) for case in cases]
        agrees = [same(a, b, exercise.atol) for a, b in zip(got, theirs, strict=True)]
        mistaken = [i for i, b in enumerate(theirs) if problem_with(b, expected[i], exercise.atol)]
        shared = [i for i in mistaken if agrees[i] and i in wrong]
        to_the_letter = any(error_text(got[i].raised) == error_text(theirs[i].raised) for i in shared)
        likely = 2 * len(shared) >= len(wrong) and 2 * len(shared) > len(mistaken)
        if likely and to_the_letter and sum(agrees) > most:
            best, most = mistake.meaning, sum(agrees)
    return best or (failed.if_equal if all_equal(got, cases, failed) else None)


def all_equal(got: list[Outcome], cases: list[Case], kind: Kind) -> bool:
    """True if the results of a kind are one and the same finite number or array."""
    results = [outcome for outcome, case in zip(got, cases, strict=True) if case.kind is kind]
    first = results[0].numbers
    return first is not None and bool(np.isfinite(first).all()) and all(same(r, results[0], 0) for r in results)


def same(a: Outcome, b: Outcome, atol: float) -> bool:
    """True if two calls failed with the same type of error or gave the same value."""
    if a.raised is not None or b.raised is not None:
        return type(a.raised) is type(b.raised)
    x, y = a.numbers, b.numbers
    if x is None or y is None:
        return a.value is None and b.value is None
    return x.shape == y.shape and np.allclose(x, y, rtol=RTOL, atol=atol, equal_nan=True)
