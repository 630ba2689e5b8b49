"""Whether the assertions of a cell can fail: each is tried again with one of its values replaced by a wrong one.

An assertion that holds whatever its names are asserts nothing: `np.allclose(p, p)`, `len(x) >= 0`. A wrong value is far
off; how near a right one has to be, the pins and a bound on tolerances hold.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

LARGE = 10**6  # an array of more numbers is left as it is


def unfailing(source: str, variables: Mapping[str, Any]) -> list[str]:
    """The assertions of a cell that hold with every wrong value that is tried; `variables` are those after it ran."""
    tree = ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M))
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return [ast.unparse(test) for test in tests if not left_alone(test, variables) and not can_fail(test, variables)]


def left_alone(test: ast.expr, variables: Mapping[str, Any]) -> bool:
    """Whether it says that two things differ, which wrong values seldom make untrue; or calls the notebook's functions.

    Nobody knows what these do with a wrong value, and for how long.
    """
    nodes = [*ast.walk(test)]
    own = [variables.get(node.id) for node in nodes if isinstance(node, ast.Name)]
    if any(isinstance(one, FunctionType) and one.__module__ == "__main__" for one in own):
        return True
    return any(isinstance(node, ast.NotEq | ast.Not | ast.IsNot | ast.NotIn) for node in nodes)


def can_fail(test: ast.expr, variables: Mapping[str, Any]) -> bool:
    """Whether some wrong value turns an assertion red; where it names no value, a wrong number in it."""
    code = compile(ast.Expression(test), "<assertion>", "eval")
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} & variables.keys()
    tried = 0
    for name in sorted(names):
        for wrong in wrong_values(variables[name]):
            tried += 1
            if not holds(code, {**variables, name: wrong}):
                return True
    return not tried and any(not holds(code, variables) for code in with_wrong_numbers(test))


def holds(code: Any, variables: Mapping[str, Any]) -> bool:
    """Whether an expression is true; one that cannot be computed is not. What it prints or warns of is not shown."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return bool(eval(code, dict(variables)))
        except Exception:
            return False


def wrong_values(value: Any) -> Iterator[Any]:
    """Values of the same type that are far from this one; none of a function, a module, or what is no plain value."""
    if isinstance(value, bool | np.bool_):
        yield not value
    elif isinstance(value, int | float | np.number):
        yield from (value + 1000.4 if isinstance(value, float) else value + 1000, -value - 1, value * 0)
    elif isinstance(value, str):
        yield value + "x"
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= LARGE:
        if value.dtype == bool:
            yield ~value
        else:
            yield from (value + 1000.4, -value - 1, np.zeros_like(value), np.full_like(value, 7))
        yield value.astype(np.float16)
        yield from (value[:0], value[..., :0], value[::-1]) if value.ndim else ()
    elif isinstance(value, tuple) and hasattr(value, "_replace"):
        yield from (
            value._replace(**{key: wrong})
            for key, x in zip(value._fields, value, strict=True)
            for wrong in wrong_values(x)
        )
    elif isinstance(value, list | tuple):
        yield value[:0]
        yield value[::-1]
        yield from (
            type(value)((*value[:i], wrong, *value[i + 1 :]))
            for i, x in enumerate(value[:50])
            for wrong in wrong_values(x)
        )
    elif isinstance(value, dict):
        yield {}
        yield from ({**value, key: wrong} for key, x in value.items() for wrong in wrong_values(x))


def with_wrong_numbers(test: ast.expr) -> Iterator[Any]:
    """The expression with another number in the place of one of its own."""
    for node in ast.walk(test):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            right, node.value = node.value, node.value + 1000
            yield compile(ast.Expression(test), "<assertion>", "eval")
            node.value = right
