"""Live widgets on the static page, drawn by one small script of our own.

A notebook stores its widgets' state and, in the outputs, which of them are shown. When a notebook is read, this

* refuses a widget that `widget_host.js` cannot draw: the build fails and names it;
* cuts the state to what the script reads, and keeps a text that several widgets share once;
* moves large binary data out of the page, each into a script of its own that the widget asks for when it is near;
* puts the output's own `text/html` beside the widget, for readers without scripts.

Pages without widgets load nothing of this. Why not the stock widget manager: CONTRIBUTING.md.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.locale import _

HERE = Path(__file__).parent
STATE = "ipywidgets_state"  # MyST-NB's name for the script element that holds it
LARGE_DATA = "widget_data"  # our own entry beside it
STATE_TYPE = "application/vnd.jupyter.widget-state+json"
VIEW_TYPE = "application/vnd.jupyter.widget-view+json"

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
LARGE = 8192  # base64 characters from which data leaves the page


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", _add_script)
    app.connect("doctree-read", _prepare)
    app.connect("html-page-context", _add_page_files, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_script(app: Sphinx, config: Config) -> None:
    config.nb_ipywidgets_js = {"widget_host.js": {"defer": "defer"}}  # on pages with widgets, in place of MyST-NB's
    config.html_static_path.append(str(HERE / "widget_host"))


def _prepare(app: Sphinx, doctree: nodes.document) -> None:
    """Check and trim the state of the notebook just read, and place its widgets in the page."""
    docname, notebook = app.env.docname, app.env.doc2path(app.env.docname, base=False)
    stored = {}
    files = NbMetadataCollector.get_js_files(app.env, docname)
    if STATE in files:
        stored = json.loads(files[STATE][1]["body"])["state"]
        page = page_state(stored, notebook)
        NbMetadataCollector.set_doc_data(app.env, docname, LARGE_DATA, page.pop("large"))
        body = json.dumps(page, separators=(",", ":")).replace("</", "<\\/")  # nothing may close the script element
        files[STATE] = (None, {"type": STATE_TYPE, "body": body})
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") == "mime_bundle":
            _place(bundle, stored, notebook)


def page_state(stored: dict[str, Any], notebook: str) -> dict[str, Any]:
    """What a page carries of a notebook's widget state: `state`, `shared` texts, and the `large` data to move out.

    Raises:
        ExtensionError: a widget that the script cannot draw.
    """
    page: dict[str, Any] = {"state": {}, "shared": [], "large": {}}
    for model_id, model in stored.items():
        name, state = model["model_name"], model["state"]
        if STAYS_BEHIND.search(name):
            continue
        _require_drawable(name, state, f"{notebook}: widget {name} ({model_id})")
        kept = _cut(name, state)
        for key in SHARED:
            if key in kept:
                kept[key] = {"shared": _index(page["shared"], kept[key])}
        entry = {"model_name": name, "state": kept}
        if model.get("buffers"):
            entry["buffers"] = [_moved(buffer, page["large"]) for buffer in model["buffers"]]
        page["state"][model_id] = entry
    return page


def _require_drawable(name: str, state: dict[str, Any], where: str) -> None:
    if name == "AnyModel":
        if not state.get("_esm"):
            raise ExtensionError(f"{where} has no _esm, so the page cannot draw it")
    elif name not in READ_BY_SCRIPT:
        known = ", ".join(known.removesuffix("Model") for known in READ_BY_SCRIPT)
        raise ExtensionError(f"{where} cannot be drawn on the static page; it draws {known} and anywidgets")
    elif not re.fullmatch(r",?(d|\.\df)", state.get("readout_format", "d")):
        written = state["readout_format"]
        raise ExtensionError(f"{where} has readout_format {written!r}; the page knows d, ,d, .2f and ,.2f")
    elif state.get("orientation", "horizontal") != "horizontal":
        raise ExtensionError(f"{where} is vertical; the page draws horizontal sliders")


def _cut(name: str, state: dict[str, Any]) -> dict[str, Any]:
    if name == "AnyModel":
        unread = {"layout", "tabbable", "tooltip"}
        return {key: value for key, value in state.items() if key in SHARED or (key[0] != "_" and key not in unread)}
    return {key: value for key, value in state.items() if key in READ_BY_SCRIPT[name]}


def _index(texts: list[str], text: str) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)


def _moved(buffer: dict[str, Any], large: dict[str, str]) -> dict[str, Any]:
    """A buffer as it is, or the key of the file that it has moved to."""
    data = buffer["data"].replace("\n", "")
    if len(data) < LARGE or len(buffer["path"]) > 1:
        return {"path": buffer["path"], "data": data}
    key = hashlib.sha256(data.encode()).hexdigest()[:16]
    large[key] = data
    return {"path": buffer["path"], "file": key}


def _write_data(app: Sphinx, key: str, data: str) -> None:
    """A script, not JSON: a page opened from disk may load a script, but not fetch a file."""
    path = Path(app.outdir) / "_static" / "widget_data" / f"{key}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'(window.widgetData ??= {{}})["{key}"] = "{data}";\n', encoding="utf-8")


def _place(bundle: nodes.Element, stored: dict[str, Any], notebook: str) -> None:
    """Give a shown widget its place in the page, with what stands in for it where no script runs."""
    parts = {part["mime_type"]: part for part in bundle.children if isinstance(part, nodes.container)}
    view = parts.get(VIEW_TYPE)
    if view is None:
        return
    shown = view.astext()
    model_id = json.loads(re.sub(r"</?script[^>]*>", "", shown))["model_id"]
    if model_id not in stored:
        raise ExtensionError(f"{notebook}: an output shows widget {model_id}, whose state is not stored")
    static = parts["text/html"].astext() if "text/html" in parts else ""
    failed = html.escape(_("This figure could not be drawn; here is its first state."))
    place = f'<div class="widget" data-failed="{failed}">{shown}<noscript>{static}</noscript></div>'
    view.children = [nodes.raw("", place, format="html")]


def _add_page_files(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: object) -> None:
    if STATE in NbMetadataCollector.get_js_files(app.env, pagename):
        app.add_css_file("widget_host.css")
        for key, data in NbMetadataCollector.get_doc_data(app.env)[pagename][LARGE_DATA].items():
            _write_data(app, key, data)
