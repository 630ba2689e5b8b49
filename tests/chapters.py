"""The book's chapters as the tests read them: cells, prose, the numbers they print, the figures they draw."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import nbformat
import pytest

import lmhead.head

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("[0-9][0-9]_*.ipynb"))

NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w,]*\w)", re.ASCII)


@functools.cache
def cells(chapter: str) -> list[Any]:
    """All cells of a chapter."""
    return nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells


def code_cells(chapter: str) -> list[Any]:
    """Its code cells."""
    return [cell for cell in cells(chapter) if cell.cell_type == "code"]


def prose_cells(chapter: str) -> list[Any]:
    """Its Markdown cells."""
    return [cell for cell in cells(chapter) if cell.cell_type == "markdown"]


def tags(cell: Any) -> list[str]:
    """A cell's tags."""
    return cell.metadata.get("tags", [])


def output_texts(cell: Any) -> Iterator[str]:
    """Everything that a cell's outputs say in words: what it prints, its value, its error, a widget's table."""
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            yield output.text
        elif output.output_type == "error":
            yield output.evalue
        else:
            for kind in ("text/plain", "text/html"):
                if kind in output.data and "image/svg+xml" not in output.data:
                    yield re.sub(r"<[^>]*>", " ", output.data[kind])


def numbers_in(text: str) -> list[str]:
    """The numbers of a text as they are written, less a plus sign and the commas between thousands."""
    text = re.sub(r"\bminus (?=\d)", "-", text)
    return [match.replace("−", "-").lstrip("+").replace(",", "") for match in NUMBER.findall(text)]


def said_beside(figure: Any) -> list[str]:
    """The alt text and the caption of a cell that draws."""
    settings = figure.metadata.get("mystnb", {})
    return [settings.get("image", {}).get("alt", ""), settings.get("figure", {}).get("caption", "")]


@functools.cache
def printed_numbers(chapter: str) -> frozenset[str]:
    """Every number that a cell of the chapter prints."""
    return frozenset(n for cell in code_cells(chapter) for text in output_texts(cell) for n in numbers_in(text))


def figures(chapter: str) -> list[Any]:
    """The cells that draw."""
    return [
        cell
        for cell in code_cells(chapter)
        if any("image/svg+xml" in o.get("data", {}) or "image/png" in o.get("data", {}) for o in cell.outputs)
    ]


def figure_name(cell: Any) -> str:
    """The name by which pages link to a figure."""
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")


def alt_text(chapter: str, name: str) -> str:
    """What a screen reader says of the figure."""
    (cell,) = [cell for cell in figures(chapter) if figure_name(cell) == name]
    return cell.metadata["mystnb"]["image"]["alt"]


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


def widget_state(chapter: str) -> dict[str, Any]:
    """The widget models that a chapter stores."""
    metadata = json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["metadata"]
    return metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
