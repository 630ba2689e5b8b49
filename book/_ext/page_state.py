"""What a page carries of the state of ipywidgets: all that `widget_host.js` reads, and no more.

The same for the widgets that a notebook stores, when the book is built, and for those that a reader's own code makes
on the page: so this module imports nothing but the standard library, and runs in both places.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

SLIDER = {"value", "min", "max", "step", "description", "disabled", "readout_format"}
READ_BY_SCRIPT = {
    "IntSliderModel": SLIDER,
    "FloatSliderModel": SLIDER,
    "FloatLogSliderModel": SLIDER | {"base"},
    "DropdownModel": {"index", "_options_labels", "description", "disabled"},
    "CheckboxModel": {"value", "description", "disabled"},
    "VBoxModel": {"children"},
    "HBoxModel": {"children"},
    "LinkModel": {"source", "target"},
    "DirectionalLinkModel": {"source", "target"},
}
STAYS_BEHIND = re.compile(r"Layout|Style")  # models that say how JupyterLab dresses a widget
SHARED = ("_esm", "_css")
LARGE = 8192  # base64 characters from which data may leave the page


class NotDrawnError(ValueError):
    """A widget that the script cannot draw."""


def page_state(stored: dict[str, Any], *, may_leave: bool) -> dict[str, Any]:
    """`state` by model, texts that several models have in common as `shared`, and `large` data by their key.

    Args:
        stored: the state of each model by its id, as ipywidgets writes it.
        may_leave: whether large data go to `large`; else they stay in the state.

    Raises:
        NotDrawnError: a widget that the script cannot draw.
    """
    page: dict[str, Any] = {"state": {}, "shared": [], "large": {}}
    for model_id, model in stored.items():
        name, state = model["model_name"], model["state"]
        if STAYS_BEHIND.search(name):
            continue
        _require_drawable(name, state, f"widget {name} ({model_id})")
        kept = _cut(name, state)
        for key in SHARED:
            if key in kept:
                kept[key] = {"shared": _index(page["shared"], kept[key])}
        entry = {"model_name": name, "state": kept}
        if model.get("buffers"):
            entry["buffers"] = [_moved(buffer, page["large"], may_leave) for buffer in model["buffers"]]
        page["state"][model_id] = entry
    return page


def _require_drawable(name: str, state: dict[str, Any], what: str) -> None:
    if name == "AnyModel":
        if not state.get("_esm"):
            raise NotDrawnError(f"{what} has no _esm, so the page cannot draw it")
    elif name not in READ_BY_SCRIPT:
        known = ", ".join(known.removesuffix("Model") for known in READ_BY_SCRIPT)
        raise NotDrawnError(f"{what} cannot be drawn on the static page; it draws {known} and anywidgets")
    elif not re.fullmatch(r",?(d|\.\df)", state.get("readout_format", "d")):
        written = state["readout_format"]
        raise NotDrawnError(f"{what} has readout_format {written!r}; the page knows d, ,d, .2f and ,.2f")
    elif state.get("orientation", "horizontal") != "horizontal":
        raise NotDrawnError(f"{what} is vertical; the page draws horizontal sliders")


def _cut(name: str, state: dict[str, Any]) -> dict[str, Any]:
    if name == "AnyModel":
        unread = {"layout", "tabbable", "tooltip"}
        return {key: value for key, value in state.items() if key in SHARED or (key[0] != "_" and key not in unread)}
    return {key: value for key, value in state.items() if key in READ_BY_SCRIPT[name]}


def _index(texts: list[str], text: str) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)


def _moved(buffer: dict[str, Any], large: dict[str, str], may_leave: bool) -> dict[str, Any]:
    """A buffer as it is, or the key of the file that it has moved to."""
    data = buffer["data"].replace("\n", "")
    if not may_leave or len(data) < LARGE or len(buffer["path"]) > 1:
        return {"path": buffer["path"], "data": data}
    key = hashlib.sha256(data.encode()).hexdigest()[:16]
    large[key] = data
    return {"path": buffer["path"], "file": key}
