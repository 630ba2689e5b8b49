"""Runs a cell of a page in the browser's Python, and hands over what it shows in the notebook format, as it comes.

Pyodide has no IPython kernel; this does what a page needs of one: text as it is written, the value of the last
expression, figures, widgets, and an error's name and message alone, as the book shows them.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import linecache
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from page_state import NotDrawnError, page_state

LONGEST = 100_000  # characters that one cell may print: an endless loop that prints must not fill the page
OFTEN = 0.2  # seconds between two texts that are handed over
VIEW = "application/vnd.jupyter.widget-view+json"
NAMESPACE = sys.modules["__main__"].__dict__
FORMATS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/markdown": "_repr_markdown_"}
HERE = "The Python of this page has NumPy, matplotlib, ipywidgets and lmhead; for more, run `make lab`"

Output = dict[str, Any]


class Stream(io.TextIOBase):
    """Standard output or standard error of a cell."""

    def __init__(self, name: str) -> None:
        self.name, self.kept, self.length, self.sent = name, "", 0, 0.0

    def writable(self) -> bool:
        """As a text file that is open for writing."""
        return True

    def write(self, text: str) -> int:
        """Keep the text, and hand over what was kept, unless that was done just now."""
        room = LONGEST - self.length
        if 0 < room < len(text):
            text = f"{text[:room]}\n... cut here: a cell of a page prints at most {LONGEST:,} characters\n"
        self.kept += text if room > 0 else ""
        self.length += len(text)
        if time.monotonic() - self.sent > OFTEN:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Hand over what was kept."""
        if self.kept:
            show({"output_type": "stream", "name": self.name, "text": self.kept})
        self.kept, self.sent = "", time.monotonic()


class Cell:
    """The cell that runs now: where its outputs go, and its two streams."""

    emit: Callable[[str], None]
    streams: tuple[Stream, Stream]


def show(output: Output) -> None:
    """Hand over an output, after what was written before it."""
    if output["output_type"] != "stream":
        flush()
    Cell.emit(json.dumps(output))


def flush() -> None:
    """Hand over what was written."""
    for stream in Cell.streams:
        stream.flush()


def run(source: str, name: str, emit: Callable[[str], None]) -> bool:
    """Run a cell in the page's namespace; `emit` gets each output as JSON. Whether it ended without an error."""
    kept = sys.stdout, sys.stderr
    Cell.emit, Cell.streams = emit, (Stream("stdout"), Stream("stderr"))
    sys.stdout, sys.stderr = Cell.streams
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        execute(source, name)
        show_figures()
        return True
    except BaseException as error:
        close_figures()
        show({"output_type": "error", **what_is_said(error, name)})
        return False
    finally:
        flush()
        sys.stdout, sys.stderr = kept


def execute(source: str, name: str) -> None:
    """Run the statements, and show the value of the last one if it is an expression without a semicolon."""
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), NAMESPACE)
        return
    tree.body.pop()
    exec(compile(tree, name, "exec"), NAMESPACE)
    value = eval(compile(ast.Expression(last.value), name, "eval"), NAMESPACE)
    if value is not None and not source.rstrip().endswith(";"):
        NAMESPACE["_"] = value
        show({"output_type": "execute_result", **bundle(value)})


def display(*values: Any, **_: Any) -> None:
    """Show values in the middle of a cell, as IPython's function of that name."""
    for value in values:
        show({"output_type": "display_data", **bundle(value)})


def bundle(value: Any) -> Output:
    """A value in each form that it has; a widget with the state that draws it."""
    data: dict[str, Any] = {}
    if not isinstance(value, type):
        if hasattr(value, "_repr_mimebundle_"):
            made = value._repr_mimebundle_()
            data = dict((made[0] if isinstance(made, tuple) else made) or {})
        for kind, method in FORMATS.items():
            if kind not in data and hasattr(value, method):
                data[kind] = getattr(value, method)()
    data = {kind: form for kind, form in data.items() if form is not None}
    data.setdefault("text/plain", repr(value))
    if VIEW not in data:
        return {"data": data}
    from ipywidgets.embed import dependency_state

    try:
        state = dependency_state([value], drop_defaults=False)  # of this widget, not of all that there are
        return {"data": data, "state": page_state(state, may_leave=False)}
    except NotDrawnError as error:
        raise NotDrawnError(f"{error}; in JupyterLab it is drawn: run `make lab`") from None


def show_figures() -> None:
    """Show every open figure that holds something, as JupyterLab does at the end of a cell, and close them."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return
    for number in plt.get_fignums():
        figure = plt.figure(number)
        if figure.axes or figure.lines:
            text = io.BytesIO()
            look = {"facecolor": figure.get_facecolor(), "edgecolor": figure.get_edgecolor(), "dpi": figure.dpi}
            figure.canvas.print_figure(text, format="svg", bbox_inches="tight", metadata={"Date": None}, **look)
            data = {"image/svg+xml": text.getvalue().decode(), "text/plain": repr(figure)}
            show({"output_type": "display_data", "data": data, "alt": in_words(figure)})
    close_figures()


def close_figures() -> None:
    """Forget every figure."""
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")


def in_words(figure: Any) -> str:
    """What a figure's own words say of it: its titles and the names of its axes."""
    said = []
    for axes in figure.axes:
        names = " against ".join(name for name in (axes.get_ylabel(), axes.get_xlabel()) if name)
        said += [part for part in (axes.get_title(), names) if part]
    return "; ".join(said)


def what_is_said(error: BaseException, name: str) -> Output:
    """An error's name and message, and the line of a cell that it comes from."""
    if isinstance(error, SyntaxError) and error.filename == name:
        shell = (error.text or "").lstrip().startswith(("%", "!"))
        message = "% and ! are commands of JupyterLab, not of Python; run `make lab`" if shell else error.msg
        return {"ename": type(error).__name__, "evalue": message, "line": error.lineno, "name": name}
    message = str(error)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] not in sys.modules:
        message = f"{message.partition(':')[0]}. {HERE}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<cell ")]
    where = {"line": frames[-1].lineno, "name": frames[-1].filename} if frames else {}
    return {"ename": type(error).__name__, "evalue": message, **where}


def cannot_ask(prompt: object = "") -> str:
    """In place of `input`."""
    raise RuntimeError("a page cannot ask: write the answer into the cell, in place of input()")


def use_own_display() -> None:
    """Let `from IPython.display import display`, which ipywidgets uses too, be the one above."""
    import IPython.core.display_functions
    import IPython.display

    IPython.display.display = IPython.core.display_functions.display = display


os.environ["MPLBACKEND"] = "module://page_figures"
sys.dont_write_bytecode = True
builtins.input = cannot_ask
builtins.display = display  # type: ignore[attr-defined]
