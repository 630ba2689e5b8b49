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
VIEW_TYPE = "application/vnd.jupyter.widget-view+json"

State = Mapping[str, Any]  # what a view draws: numbers, labels and words by name
Part = dict[str, Any]  # a table, a list of terms, or a note: what a scene says in words


class View(anywidget.AnyWidget):
    """A picture that computes and draws in the browser, with a synced trait for each entry of its state.

    A notebook stores a script as one text, so the files that a view needs are joined, `NAME.js` and `NAME.css` last.
    """

    def __init__(self, name: str, state: State, needs: Sequence[str]) -> None:
        files = (*needs, name)
        given = {"_esm": source(files, "js"), "_css": source(files, "css"), "view": name, **state}
        given["_anywidget_id"] = f"lmhead.{name}"  # JupyterLab keeps one style sheet under each such id
        self.add_traits(**{key: traitlets.Any().tag(sync=True) for key in given})
        super().__init__(**given)


class Figure(ipywidgets.VBox):  # type: ignore[misc]
    """Controls above a view; its stored output also holds `static`, the HTML that stands in where no script runs.

    `controls` has each control under the entry of the view's state that it sets.
    """

    def __init__(self, controls: Mapping[str, ipywidgets.Widget], view: View, static: str) -> None:
        super().__init__([*controls.values(), view])
        self.controls, self.view, self.static = controls, view, static

    def __repr__(self) -> str:
        """The same text in every run: a notebook's stored output is compared with a fresh one."""
        return f"<lmhead.widgets.{self.view.view}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {VIEW_TYPE: shown, "text/html": self.static, "text/plain": repr(self)}


def source(files: Sequence[str], kind: str) -> str:
    """The text of those of the files that there are, `FILE.js` or `FILE.css`."""
    paths = [HERE / f"{file}.{kind}" for file in files]
    return "\n".join(path.read_text("utf-8") for path in paths if path.exists())


def figure(
    name: str,
    state: State,
    controls: Mapping[str, ipywidgets.Widget],
    said: Sequence[Part],
    needs: Sequence[str] = ("arithmetic", "scene"),
) -> Figure:
    """The view `name` under its controls, each joined in the browser to the entry of the state that it sets.

    Args:
      name: of the view's own files.
      state: what it draws.
      controls: each under its entry of the state.
      said: its words and numbers at that state, for where no script runs.
      needs: the files beside its own that its script uses, and those that draw.
    """
    view = View(name, state, ("base", "write", *needs, "render"))
    for key, control in controls.items():
        value = "index" if isinstance(control, ipywidgets.Dropdown) else "value"
        ipywidgets.jslink((control, value), (view, key))
    return Figure(controls, view, "".join(map(as_html, said)))


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


def tick_box(description: str, value: bool) -> ipywidgets.Checkbox:
    """A box to tick."""
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
        raise ValueError(f"logits must be [vocab] with one label per token; got {z.shape} and {len(labels)} labels")
    if not 2 <= len(z) <= most:
        raise ValueError(f"this view shows 2 to {most} tokens; got {len(z)}")
    row = [float(x) for x in z]
    if not all(abs(x) < float("inf") for x in row):
        raise ValueError(f"logits must be finite; got {row}")
    return row


def as_token(index: int, labels: Sequence[str], name: str) -> int:
    """An id of one of the labels."""
    if not 0 <= index < len(labels):
        raise IndexError(f"{name} is {index}; the {len(labels)} tokens here have ids 0 to {len(labels) - 1}")
    return int(index)


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Part:
    """A table; the first text of a row names it."""
    return {"caption": caption, "headings": list(headings), "rows": [list(row) for row in rows]}


def terms(*pairs: tuple[str, str]) -> Part:
    """Numbers, each with what it is."""
    return {"terms": [list(pair) for pair in pairs]}


def note(text: str) -> Part:
    """A sentence."""
    return {"note": text}


def named(name: str, mark: str = "") -> str:
    """A row's name and what is said of it beside the name."""
    return f"{name} {mark}" if mark else name


def as_html(part: Part) -> str:
    """A table, a list of terms or a note in HTML."""
    if "note" in part:
        return f"<p>{html.escape(part['note'])}</p>"
    if "terms" in part:
        pairs = (f"<dt>{html.escape(term)}</dt><dd>{html.escape(text)}</dd>" for term, text in part["terms"])
        return f"<dl>{''.join(pairs)}</dl>"
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in part["headings"])
    rows = (
        f'<tr><th scope="row">{html.escape(name)}</th>' + "".join(f"<td>{html.escape(text)}</td>" for text in texts)
        for name, *texts in part["rows"]
    )
    caption = f"<caption>{html.escape(part['caption'])}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{'</tr>'.join(rows)}</tr></tbody></table>"
