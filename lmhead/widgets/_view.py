"""What every view is made of: controls, a picture drawn in the browser, and a table for where no script runs."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets
from numpy.typing import ArrayLike

from lmhead._arguments import as_floats

HERE = Path(__file__).parent
PICTURE = ("base", "arithmetic", "draw")  # what all views but the quick checks are built on
VIEW_TYPE = "application/vnd.jupyter.widget-view+json"

State = Mapping[str, Any]  # what a view draws: numbers, labels and words by name


class View(anywidget.AnyWidget):
    """A picture that computes and draws in the browser, with a synced trait for each entry of its state.

    A notebook stores a script as one text, so the files named in `parts` are joined, `NAME.js` and `NAME.css` last.
    """

    def __init__(self, name: str, state: State, parts: Sequence[str] = PICTURE) -> None:
        parts = (*parts, name)
        given = {"_esm": source(parts, "js"), "_css": source(parts, "css"), "view": name, **state}
        given["_anywidget_id"] = f"lmhead.{name}"  # JupyterLab keeps one style sheet under each such id
        self.add_traits(**{key: traitlets.Any().tag(sync=True) for key in given})
        super().__init__(**given)


class Figure(ipywidgets.VBox):  # type: ignore[misc]
    """Controls above a view; its stored output also holds `static`, the HTML that stands in where no script runs."""

    def __init__(self, children: Sequence[ipywidgets.Widget], static: str) -> None:
        super().__init__(children)
        self.static = static

    def __repr__(self) -> str:
        """The same text in every run: a notebook's stored output is compared with a fresh one."""
        return f"<lmhead.widgets.{self.children[-1].view}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {VIEW_TYPE: shown, "text/html": self.static, "text/plain": repr(self)}


def source(parts: Sequence[str], kind: str) -> str:
    """The text of those of the parts' files that there are, `PART.js` or `PART.css`."""
    files = [HERE / f"{part}.{kind}" for part in parts]
    return "\n".join(file.read_text("utf-8") for file in files if file.exists())


def figure(name: str, state: State, controls: Mapping[str, ipywidgets.Widget], static: str) -> Figure:
    """The view `name` under its controls, each joined in the browser to the entry of the state that it sets."""
    view = View(name, state)
    for key, control in controls.items():
        value = "index" if isinstance(control, ipywidgets.Dropdown) else "value"
        ipywidgets.jslink((control, value), (view, key))
    return Figure([*controls.values(), view], static)


WIDE = {"style": {"description_width": "11rem"}, "layout": {"width": "min(100%, 36rem)"}}


def slider(description: str, value: float, low: float, high: float, step: float) -> ipywidgets.Widget:
    """A slider over the integers if all four numbers are, else over floats."""
    numbers = (value, low, high, step)
    if all(isinstance(number, int) for number in numbers):
        return ipywidgets.IntSlider(value, low, high, step, readout_format=",d", description=description, **WIDE)
    return ipywidgets.FloatSlider(value=value, min=low, max=high, step=step, description=description, **WIDE)


def log_slider(description: str, value: float, most: float) -> ipywidgets.Widget:
    """A slider from 1 to `most` in 64 equal ratios."""
    end = math.log2(most)
    scale = {"base": 2, "min": 0, "max": end, "step": end / 64}
    return ipywidgets.FloatLogSlider(value=value, **scale, readout_format=",.0f", description=description, **WIDE)


def menu(description: str, options: Sequence[str], index: int) -> ipywidgets.Dropdown:
    """A menu whose index is what counts."""
    return ipywidgets.Dropdown(options=list(options), index=index, description=description, **WIDE)


def check_box(description: str, value: bool) -> ipywidgets.Checkbox:
    """A check box."""
    return ipywidgets.Checkbox(value=value, description=description, indent=False)


def with_words(defaults: Mapping[str, str], words: Mapping[str, str] | None) -> dict[str, str]:
    """The words on the screen, some of them replaced."""
    unknown = set(words or ()) - set(defaults)
    if unknown:
        raise ValueError(f"no such word: {', '.join(sorted(unknown))}; the words here are {', '.join(defaults)}")
    return {**defaults, **(words or {})}


def as_row(logits: ArrayLike, labels: Sequence[str], most: int = 12) -> list[float]:
    """One row of finite logits, one for each label, few enough to be seen at once."""
    z = as_floats(logits, "logits")
    if z.ndim != 1 or len(z) != len(labels):
        raise ValueError(f"logits must be [vocab] with one label a token; got {z.shape} and {len(labels)} labels")
    if not 2 <= len(z) <= most:
        raise ValueError(f"this view shows 2 to {most} tokens; got {len(z)}")
    row = [float(x) for x in z]
    if not all(abs(x) < float("inf") for x in row):
        raise ValueError(f"logits must be finite; got {row}")
    return row


def check_token(index: int, labels: Sequence[str], name: str) -> int:
    """An id of one of the labels."""
    if not 0 <= index < len(labels):
        raise IndexError(f"{name} is {index}; the {len(labels)} tokens here have ids 0 to {len(labels) - 1}")
    return int(index)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; the first entry of a row names it, numbers are shown as the views show them."""
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{cell(first)}</th>' + "".join(f"<td>{cell(entry)}</td>" for entry in rest) + "</tr>"
        for first, *rest in rows
    )
    return f"<table><caption>{html.escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def cell(entry: object) -> str:
    """A number as `draw.js` shows it, anything else as escaped text."""
    return decimals(entry) if isinstance(entry, float) else html.escape(str(entry))


def decimals(x: float) -> str:
    """Four decimals; one digit and a power of ten for what four decimals would show as 0."""
    return f"{x:.1e}" if 0 < abs(x) < 5e-5 else f"{x:.4f}"


def grouped(n: int) -> str:
    """A whole number with its thousands apart."""
    return f"{n:,}"


def size(n_bytes: float) -> str:
    """Bytes in the unit that reads best."""
    power = min(int(math.log(max(n_bytes, 1), 1024)), 4)
    return f"{n_bytes / 1024**power:,.4g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"
