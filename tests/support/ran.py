"""What the cells of a chapter do when they are run."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pytest

import lmhead.head
from tools.chapters import BOOK, code_cells, figure_name, figures, tags


class Ran(NamedTuple):
    """What a chapter's cells do when they are run, in order."""

    axes: dict[str, Any]  # figure's name -> the Axes that its cell draws
    heads: frozenset[tuple[tuple[int, ...], tuple[int, ...]]]  # the shapes of every h and W_U given to lmhead
    assigned: list[tuple[Any, str, Any]]  # cell, variable, the value that it got there


@functools.cache
def ran(chapter: str) -> Ran:
    """Run a chapter's cells here, in order."""
    plt.switch_backend("Agg")
    seen = Ran({}, frozenset(), [])
    heads, in_this_cell = set(), set()
    checked = lmhead.head.require_head_shapes

    def recording(h: Any, W_U: Any) -> None:
        checked(h, W_U)
        if h.size:  # streaming asks about types with an empty head
            in_this_cell.add((h.shape, W_U.shape))

    named = {id(cell): figure_name(cell) for cell in figures(chapter)}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with (
        contextlib.chdir(BOOK),
        contextlib.redirect_stdout(io.StringIO()),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("lmhead.head.require_head_shapes", recording)
        for cell in code_cells(chapter):
            before = dict(namespace)
            in_this_cell.clear()
            try:
                value = _run(cell.source, namespace)
            except Exception:
                if "raises-exception" not in tags(cell):
                    raise
                continue
            if id(cell) in named:
                seen.axes[named[id(cell)]] = value
            if not {"exercise", "solution"} & set(tags(cell)):  # a checker's hidden cases have traps on purpose
                heads |= in_this_cell
            changed = (name for name, now in namespace.items() if name not in before or before[name] is not now)
            seen.assigned.extend((cell, name, namespace[name]) for name in changed)
    plt.close("all")  # pyplot keeps every figure until told otherwise; their Axes can still be read
    return seen._replace(heads=frozenset(heads))


def axes_of(chapter: str) -> dict[str, Any]:
    """The Axes that each figure cell of a chapter draws, by the figure's name."""
    return ran(chapter).axes


def _run(source: str, namespace: dict[str, Any]) -> Any:
    """Execute a cell; the value of its last line, be it an expression or what is assigned there."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Assign | ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    if isinstance(last, ast.Assign):
        namespace["_value"] = value
        assign = ast.Assign(last.targets, ast.Name("_value", ast.Load()))
        exec(compile(ast.fix_missing_locations(ast.Module([assign], [])), "<cell>", "exec"), namespace)
    return value
