"""An IPython extension: what each cell of a notebook does beside printing, written down in the kernel that runs it.

One pickled `Cell` for each cell that ran through, in order, goes into the file that `LMHEAD_RECORD` names.
"""

from __future__ import annotations

import ast
import os
import pickle
from typing import Any, NamedTuple

from IPython.core.interactiveshell import InteractiveShell

import lmhead.head
from tests.support.meanings import is_what_it_says
from tests.support.planting import unfailing

Heads = frozenset[tuple[tuple[int, ...], tuple[int, ...]]]


class Cell(NamedTuple):
    """What one cell did."""

    source: str
    axes: Any  # the Axes that are its value, or None
    heads: Heads  # the shapes of every h and W_U given to lmhead
    misnamed: list[str]  # the variables set here that are not what notation.md says
    unfailing: list[str]  # the assertions that hold whatever their values are


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Listen to the shell's cells from here on."""
    record = open(os.environ["LMHEAD_RECORD"], "ab", buffering=0)  # noqa: SIM115  until the kernel ends
    heads: set[Any] = set()
    before: dict[str, Any] = {}
    as_head = lmhead.head.as_head

    def recording(h: Any, W_U: Any, b: Any) -> Any:
        fitting = as_head(h, W_U, b)
        heads.add((fitting[0].shape, fitting[1].shape))
        return fitting

    def pre_run_cell(info: Any) -> None:
        heads.clear()
        before.clear()
        before.update(shell.user_ns)

    def post_run_cell(result: Any) -> None:
        if result.success:
            source, now = result.info.raw_cell, shell.user_ns
            changed = [name for name in now if name not in before or before[name] is not now[name]]
            misnamed = [name for name in changed if not is_what_it_says(name, now[name])]
            axes, shapes = axes_in(value_of(result, now)), frozenset(heads)
            loose = unfailing(source, now) if os.environ.get("LMHEAD_PLANT") else []
            pickle.dump(Cell(source, axes, shapes, misnamed, loose), record)

    for module in (lmhead.head, lmhead._arguments):
        module.as_head = recording
    shell.events.register("pre_run_cell", pre_run_cell)
    shell.events.register("post_run_cell", post_run_cell)


def value_of(result: Any, variables: dict[str, Any]) -> Any:
    """The value of a cell's last line, be it an expression or what is assigned there."""
    last = ast.parse(result.info.raw_cell).body[-1:]
    if last and isinstance(last[0], ast.Assign) and isinstance(last[0].targets[0], ast.Name):
        return variables[last[0].targets[0].id]
    return result.result


def axes_in(value: Any) -> Any:
    """The value, if it is Axes."""
    return value if type(value).__module__.startswith("matplotlib.") else None
