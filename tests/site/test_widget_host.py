"""What the page carries of a notebook's widgets; and that a widget which cannot be drawn ends the build."""

import base64
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets
import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from ipywidgets.embed import dependency_state
from page_state import READ_BY_SCRIPT, SHARED, NotDrawnError, page_state

from tests.support.building import build_book, make_small_book
from tests.support.gallery import IMPORTS, VIEWS, notebook
from tests.support.styles import CUT
from tools.chapters import ROOT

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def put_page(book: Path, page: nbformat.NotebookNode) -> None:
    """The notebook as the small book's one page."""
    (book / "book/page.md").unlink(missing_ok=True)
    nbformat.write(page, book / "book/page.ipynb")


def build(book: Path) -> None:
    done = build_book(book, book / "out")
    assert done.returncode == 0, done.stderr[-2000:]


def failure(book: Path) -> str:
    """What a build that has to fail says."""
    done = build_book(book, book / "out")
    assert done.returncode != 0
    return re.sub(r"\x1b\[\d+m", "", done.stdout + done.stderr)


@pytest.fixture(scope="module")
def widgets_page() -> nbformat.NotebookNode:
    return notebook(IMPORTS, VIEWS["loss"], VIEWS["loss"], VIEWS["prompts"])


@pytest.fixture(scope="module")
def book_of_widgets(widgets_page: nbformat.NotebookNode, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with that page, built. (One test builds it anew.)"""
    book = make_small_book(tmp_path_factory.mktemp("of_widgets") / "small")
    put_page(book, widgets_page)
    build(book)
    return book


def html_of(book: Path, page: str = "page") -> tuple[BeautifulSoup, dict[str, Any]]:
    """A page of a book that has been built, and the state of widgets that it carries."""
    soup = BeautifulSoup((book / f"out/_build/html/book/{page}.html").read_text("utf-8"), "html.parser")
    script = soup.find("script", type=STATE)
    return soup, json.loads(script.get_text()) if script else {}


def test_a_page_carries_each_field_that_its_script_reads() -> None:
    script = (ROOT / "book/_ext/widget_host/widget_host.js").read_text("utf-8")
    read = set(re.findall(r'\.get\("(\w+)"\)', script)) - set(SHARED)
    carried = set().union(*READ_BY_SCRIPT.values())
    assert read <= carried, read - carried
    for kind, fields in READ_BY_SCRIPT.items():
        if not fields & {"children", "source"}:  # a control
            assert {"description", "disabled"} <= fields, kind


def test_a_page_carries_what_its_script_reads(book_of_widgets: Path) -> None:
    soup, page = html_of(book_of_widgets)

    assert {model["model_name"] for model in page["state"].values()} == {
        "AnyModel", "DropdownModel", "FloatLogSliderModel", "FloatSliderModel", "LinkModel", "VBoxModel",
    }  # fmt: skip
    views = [model["state"] for model in page["state"].values() if model["model_name"] == "AnyModel"]
    views.sort(key=lambda view: view["view"])
    assert [view["view"] for view in views] == ["loss", "loss", "prompts"]
    assert views[0]["_esm"] == views[1]["_esm"] != views[2]["_esm"]
    assert len(page["shared"]) == 3, "two scripts and one style sheet, each stored once"

    places = soup.select("div.widget")
    assert len(places) == 3
    for place in places:
        assert json.loads(place.find("script", type=VIEW).get_text())["model_id"] in page["state"]
        assert place.noscript.find("table"), "without scripts a table stands in"
    assert soup.find("script", src=re.compile("widget_host.js")).has_attr("defer")
    assert "widget_host.css" in CUT.search(str(soup))[1]

    soup, page = html_of(book_of_widgets, "other")  # a page without widgets loads nothing of it
    assert page == {}
    assert "widget_host" not in str(soup) and "application/vnd.jupyter" not in str(soup)


def test_large_data_leave_the_page(book_of_widgets: Path, widgets_page: nbformat.NotebookNode) -> None:
    """And come back with a site that was deleted, though Sphinx does not read the notebook again."""
    stored = widgets_page.metadata.widgets[STATE].state
    buffers = {
        buffer["path"][0]: base64.b64decode(buffer["data"])
        for model in stored.values()
        for buffer in model.get("buffers", [])
    }
    for deleted in (False, True):
        if deleted:
            shutil.rmtree(book_of_widgets / "out/_build/html")
            build(book_of_widgets)
        _, page = html_of(book_of_widgets)
        moved = {b["path"][0]: b["file"] for model in page["state"].values() for b in model.get("buffers", [])}
        assert moved.keys() == buffers.keys() and len(moved) == 6
        for trait, key in moved.items():
            script = (book_of_widgets / "out/_build/html/_static/widget_data" / f"{key}.js").read_text("utf-8")
            data = re.fullmatch(r'\(window\.widgetData \?\?= \{\}\)\["(\w+)"\] = "([\w+/=]+)";\n', script)
            assert data[1] == key and base64.b64decode(data[2]) == buffers[trait]
            assert (np.diff(np.frombuffer(buffers[trait], "<f2").astype(float)) <= 0).all()


@pytest.mark.parametrize(
    ("widget", "message"),
    [
        (lambda: ipywidgets.ColorPicker(), r"widget ColorPickerModel \(\w{32}\) cannot be drawn"),
        (lambda: ipywidgets.VBox([ipywidgets.Output()]), r"widget OutputModel \(\w{32}\) cannot be drawn"),
        (
            lambda: ipywidgets.FloatSlider(readout_format=".2e"),
            r"FloatSliderModel \(\w{32}\) has readout_format '\.2e'",
        ),
        (lambda: ipywidgets.IntSlider(orientation="vertical"), r"IntSliderModel \(\w{32}\) is vertical"),
    ],
)
def test_a_widget_that_cannot_be_drawn_is_named(widget: Callable[[], ipywidgets.Widget], message: str) -> None:
    stored = dependency_state([widget()], drop_defaults=False)
    with pytest.raises(NotDrawnError, match=message):
        page_state(stored, may_leave=True)


def test_such_a_widget_fails_the_build(small_book: Path) -> None:
    put_page(small_book, notebook("import ipywidgets", "ipywidgets.ColorPicker()"))
    assert re.search(r"book/page.ipynb: widget ColorPickerModel \(\w{32}\) cannot be drawn", failure(small_book))


def test_a_widget_without_stored_state_fails_the_build(small_book: Path, widgets_page: nbformat.NotebookNode) -> None:
    page = nbformat.from_dict(json.loads(nbformat.writes(widgets_page)))
    del page.metadata["widgets"]
    put_page(small_book, page)
    assert re.search(r"book/page.ipynb: an output shows widget \w{32}, whose state is not stored", failure(small_book))
