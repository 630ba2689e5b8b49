"""Live widgets on the static page, drawn by one small script of our own.

A notebook stores its widgets' state and, in the outputs, which of them are shown. When a notebook is read, this

* refuses a widget that `widget_host.js` cannot draw: the build fails and names it;
* cuts the state to what the script reads (`page_state.py`), and keeps a text that several widgets share once;
* moves large binary data out of the page, each into a script of its own that the widget asks for when it is near;
* puts the output's own `text/html` beside the widget, for readers without scripts.

Pages without widgets load nothing of this. Why not the stock widget manager: CONTRIBUTING.md.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from page_state import NotDrawnError, page_state
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.locale import _

HERE = Path(__file__).parent
STATE = "ipywidgets_state"  # MyST-NB's name for the script element that holds it
LARGE_DATA = "widget_data"  # our own entry beside it
STATE_TYPE = "application/vnd.jupyter.widget-state+json"
VIEW_TYPE = "application/vnd.jupyter.widget-view+json"


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
        try:
            page = page_state(stored, may_leave=True)
        except NotDrawnError as error:
            raise ExtensionError(f"{notebook}: {error}") from None
        NbMetadataCollector.set_doc_data(app.env, docname, LARGE_DATA, page.pop("large"))
        body = json.dumps(page, separators=(",", ":")).replace("</", "<\\/")  # nothing may close the script element
        files[STATE] = (None, {"type": STATE_TYPE, "body": body})
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") == "mime_bundle":
            _place(bundle, stored, notebook)


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
