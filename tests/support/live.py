"""Live pages for the browser tests: a loopback server, a browser that reaches nothing else, and the numbers drawn."""

from __future__ import annotations

import base64
import functools
import http.server
import io
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from tests.support import session
from tests.support.views import (
    Script,
    all_of,
    cells_with,
    check,
    check_labels,
    flags_of,
    names_of,
    rows_of,
    said_in,
    words_of,
)
from tools.browser import NO_PAGES_OF_ITS_OWN, find_browser

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # no name is ever looked up
FLAGS += [NO_PAGES_OF_ITS_OWN]

STATE = "application/vnd.jupyter.widget-state+json"


# ---- a browser and a server


def missing(what: str) -> None:
    """No browser: a failure where CI is set, else one line that says what was left out."""
    message = f"no {what} is installed: the tests that need it did not run"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def chromium() -> Iterator[Browser]:
    """An installed Chromium, Chrome or Edge."""
    session.need("browser")
    path = find_browser()
    if path is None:
        missing("Chromium, Chrome or Edge")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on a free port of the loopback; gives its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def closed_network(browser: Browser, troubles: list[str], **options: Any) -> Iterator[BrowserContext]:
    """A browser context that reaches the loopback alone; `troubles` gets every request outside, failure and error."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options})

    def note(request: Any) -> None:
        if not re.match(r"(http://127\.0\.0\.1:\d+/|file:|blob:|data:)", request.url):
            troubles.append(f"asked for {request.url}")

    def lost(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # what was still on its way as the page was left
            troubles.append(f"failed: {request.url}")

    context.on("request", note)
    context.on("requestfailed", lost)
    context.on("response", lambda r: troubles.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
    context.on("weberror", lambda error: troubles.append(f"error: {error.error}"))
    context.on("console", lambda m: troubles.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None)
    yield context
    context.close()


def open_page(context: BrowserContext, address: str) -> Page:
    """The page with every widget drawn, or said to have failed."""
    page = context.new_page()
    page.goto(address)
    drawn = "[...document.querySelectorAll('div.widget')].every((w) => w.querySelector('.widget-view, .widget-failed'))"
    page.wait_for_function(drawn)
    return page


# ---- a widget on a page, and what it must show


READ = Path(__file__).with_name("read.js").read_text("utf-8")  # what the page shows of a widget


class Widget:
    """One widget of an open page: its controls, its stored state, and what it shows."""

    def __init__(self, page: Page, place: Locator, stored: Mapping[str, Any]) -> None:
        self.page, self.place = page, place
        shown = json.loads(place.locator("script").text_content() or "")["model_id"]
        ids = [child[10:] for child in stored["state"][shown]["state"]["children"]]
        *self.controls, view = (stored["state"][one] for one in ids)
        self.state = dict(view["state"])
        self.name = self.state["view"]
        self.script = script_of(stored["shared"][self.state["_esm"]["shared"]])
        self.loaded: dict[int, bytes] = {}
        self.tails = {buffer["path"][0]: buffer for buffer in view.get("buffers", [])}
        links = [m["state"] for m in stored["state"].values() if m["model_name"] == "LinkModel"]
        self.traits = {
            ids.index(link["source"][0][10:]): link["target"][1] for link in links if link["source"][0][10:] in ids
        }

    def sliders(self) -> list[Locator]:
        return self.place.locator("input[type=range]").all()

    def state_of(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """The stored state with what the controls in the page say now."""
        now = dict(self.state)
        assert len(shown["fields"]) == len(self.controls) == len(self.traits)
        for at, control in enumerate(self.controls):
            now[self.traits[at]] = value_of(shown["fields"][at], control)
        if shown["sliders"]:
            now["logits"] = [slider["value"] for slider in shown["sliders"]]
        if self.tails:
            now[f"tail_{now['prompt']}"] = self.tail(now["prompt"])
        return now

    def tail(self, prompt: int) -> bytes:
        """The bytes that the page has loaded for a prompt."""
        if prompt not in self.loaded:
            key = self.tails[f"tail_{prompt}"]["file"]
            self.loaded[prompt] = base64.b64decode(self.page.evaluate("(key) => window.widgetData[key]", key))
        return self.loaded[prompt]

    def wait_for_data(self) -> None:
        """Until the page has loaded what the chosen prompt needs; at once if it needs nothing."""
        if self.tails:
            prompt = self.place.locator("select").evaluate("(select) => select.selectedIndex")
            self.page.wait_for_function("(key) => window.widgetData?.[key]", arg=self.tails[f"tail_{prompt}"]["file"])

    def check(self, **known: Any) -> dict[str, Any]:
        """Compare all that is shown, said and painted with the scene, and the scene with lmhead; give the state."""
        shown = self.place.evaluate(READ)
        state = {**self.state_of(shown), **known}
        scene = self.script.call("scene", state)
        try:
            check(self.name, state, scene)
            check_shown(shown, scene)
            for at, control in enumerate(self.controls):
                assert shown["controls"][at] == said_of(control, state[self.traits[at]])
        except AssertionError as error:
            raise AssertionError(f"{self.name} at {settings(state)}") from error
        return state


@functools.cache
def script_of(text: str) -> Script:
    return Script(text)


def check_shown(shown: Mapping[str, Any], scene: Mapping[str, Any]) -> None:
    """The page holds the scene, no more and no less; painted to half a pixel."""
    assert shown["said"] == said_in(scene)
    assert shown["words"] == words_of(scene)
    assert shown["names"] == names_of(scene)
    for kind, flags in flags_of(scene).items():
        check_looks(kind, flags, shown["looks"][kind])
    sliders = [cell for row in rows_of(scene) for cell in row["cells"] if isinstance(cell, dict) and "slider" in cell]
    assert shown["sliders"] == [{**cell["slider"], "spoken": cell["text"]} for cell in sliders]
    bars = cells_with(scene, "bar")
    assert [left for left, _ in shown["bars"]] == pytest.approx([0] * len(bars), abs=0.01)
    assert [right for _, right in shown["bars"]] == pytest.approx(bars, abs=0.01)
    assert np.ravel(shown["pushes"]) == pytest.approx(np.ravel(cells_with(scene, "arrow")), abs=0.01)
    arrays = [(one["width"], one["height"]) for arrays in all_of(scene, "arrays") for one in arrays["all"]]
    assert np.ravel(shown["arrays"]) == pytest.approx(np.maximum(np.ravel(arrays), 1), abs=0.5)
    marks = [mark for picture in all_of(scene, "picture") for mark in picture["marks"]]
    lines = [[at(mark["line"], fraction) for fraction in (0, 0.3, 0.7, 1)] for mark in marks if "line" in mark]
    assert np.ravel(shown["lines"]) == pytest.approx(np.ravel(lines), abs=0.1)
    arrows = [[mark["arrow"], [0, 0]] for mark in marks if "arrow" in mark]
    assert np.ravel(shown["arrows"]) == pytest.approx(np.ravel(arrows), abs=0.1)
    assert np.ravel(shown["points"]) == pytest.approx(
        np.ravel([mark["point"] for mark in marks if "point" in mark]), abs=0.1
    )
    labels = [mark for mark in marks if "label" in mark]
    assert [one["label"] for one in shown["labels"]] == [str(mark["label"]) for mark in labels]
    for mark, one in zip(labels, shown["labels"], strict=True):
        left, top, right, bottom = one["box"]
        anchor = {"start": left, "middle": (left + right) / 2, "end": right}[mark.get("anchor", "middle")]
        assert mark["at"] == pytest.approx([anchor, (top + bottom) / 2], abs=2.5)
    check_labels([(one["label"], one["box"]) for one in shown["labels"]], marks)


def check_looks(kind: str, flags: list[Any], looks: list[str]) -> None:
    """What the scene flags alike looks alike, and what it does not looks different."""
    pairs = {(str(flag), look) for flag, look in zip(flags, looks, strict=True)}
    assert len(pairs) == len({flag for flag, _ in pairs}) == len({look for _, look in pairs}), (kind, pairs)


def at(line: list[list[float]], fraction: float) -> Any:
    """The place on a line at a fraction of its length."""
    corners = np.array(line, float)
    lengths = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    return [np.interp(fraction * lengths[-1], lengths, column) for column in corners.T]


def value_of(field: Mapping[str, Any], control: Mapping[str, Any]) -> Any:
    """What a native field means for the control that it was drawn for."""
    kind, state = control["model_name"], control["state"]
    if kind == "DropdownModel":
        return field["selectedIndex"]
    if kind == "CheckboxModel":
        return field["checked"]
    position = float(field["value"])
    if kind == "FloatLogSliderModel":
        return state["base"] ** (state["min"] + position * (state["max"] - state["min"]) / float(field["max"]))
    return int(position) if kind == "IntSliderModel" else position


def said_of(control: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """The texts that a native field has beside it at a value."""
    state = control["state"]
    said = {"label": state["description"], "options": list(state.get("_options_labels", []))}
    if control["model_name"].endswith("SliderModel"):
        readout = format(value, state["readout_format"])
        return {**said, "readout": readout, "spoken": readout}
    return {**said, "readout": None, "spoken": None}


def settings(state: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a state that is short enough for a message."""
    return {key: value for key, value in state.items() if len(str(value)) < 100 and not key.startswith("_")}


# ---- what the eye sees

MARKS = Path(__file__).with_name("marks.js").read_text("utf-8")  # points on every mark of a view


def weakest_mark(place: Locator) -> tuple[float, str]:
    """The least contrast (1 to 21) that any mark of a view has to the page behind it, as it is painted."""
    place.evaluate("(place) => place.scrollIntoView({ block: 'start', behavior: 'instant' })")
    marks = place.evaluate(MARKS)
    picture = np.array(Image.open(io.BytesIO(place.screenshot())).convert("RGB")) / 255
    light = luminance(picture)
    ground = light[2, 2]  # the corner of the place is bare
    assert marks, "nothing is drawn"
    return min((max(contrast(near(light, x, y), ground) for x, y in mark["points"]), mark["what"]) for mark in marks)


def near(light: Any, x: float, y: float) -> Any:
    """The pixels around a point: a thin line may lie between two."""
    return light[max(round(y) - 2, 0) : round(y) + 2, max(round(x) - 2, 0) : round(x) + 2]


def luminance(rgb: Any) -> Any:
    """WCAG's relative luminance of colours from 0 to 1."""
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(some: Any, ground: float) -> float:
    """WCAG's contrast of the colour that differs most from the ground."""
    return float(np.max((np.maximum(some, ground) + 0.05) / (np.minimum(some, ground) + 0.05)))


def widgets_of(page: Page) -> list[Widget]:
    """The widgets of a page, quick checks left out."""
    stored = stored_state(page)
    places = page.locator("div.widget").all()
    found = [Widget(page, place, stored) for place in places]
    return [widget for widget in found if widget.name != "quiz"]


def stored_state(page: Page) -> dict[str, Any]:
    script = page.locator(f"script[type='{STATE}']")
    return json.loads(script.text_content() or "") if script.count() else {}
