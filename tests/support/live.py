"""Live pages for the browser tests: a loopback server, a browser that reaches nothing else, and the numbers drawn."""

from __future__ import annotations

import base64
import functools
import http.server
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
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from tests.support import session
from tests.support.drawn import READ, check_drawing, shows
from tests.support.views import NUMBERS
from tools.browser import find_browser

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]

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
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})

    def guard(route: Any) -> None:
        if re.match(r"(http://127\.0\.0\.1:\d+/|file:|blob:|data:)", route.request.url):
            route.continue_()
        else:
            troubles.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", guard)
    context.on("requestfailed", lambda request: troubles.append(f"failed: {request.url}"))
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


# ---- a widget on a page, and what its numbers must be


class Widget:
    """One widget of an open page: its controls, its stored state, and the numbers that it draws."""

    def __init__(self, page: Page, place: Locator, stored: Mapping[str, Any]) -> None:
        self.page, self.place = page, place
        shown = json.loads(place.locator("script").text_content() or "")["model_id"]
        children = [stored["state"][child[10:]] for child in stored["state"][shown]["state"]["children"]]
        *self.controls, view = children
        self.state = dict(view["state"])
        self.name = self.state["view"]
        self.loaded: dict[int, bytes] = {}
        self.tails = {buffer["path"][0]: buffer for buffer in view.get("buffers", [])}
        links = [m["state"] for m in stored["state"].values() if m["model_name"] == "LinkModel"]
        ids = [child[10:] for child in stored["state"][shown]["state"]["children"]]
        self.traits = {
            ids.index(link["source"][0][10:]): link["target"][1] for link in links if link["source"][0][10:] in ids
        }

    def sliders(self) -> list[Locator]:
        return self.place.locator("input[type=range]").all()

    def read(self) -> dict[str, Any]:
        """What the page shows now, in one go: the controls above the view, the sliders in it, and its numbers."""
        script = """(place) => ({
          fields: [...place.querySelectorAll(".widget-row :is(input, select)")].map(
            ({ value, max, checked, selectedIndex }) => ({ value, max, checked, selectedIndex })),
          controls: [...place.querySelectorAll(".widget-row")].map((row) => ({
            label: row.querySelector("label").textContent,
            readout: row.querySelector("output")?.textContent,
            spoken: row.querySelector("input")?.getAttribute("aria-valuetext"),
            options: [...row.querySelectorAll("option")].map((option) => option.textContent),
          })),
          logits: [...place.querySelectorAll(".widget-view input[type=range]")].map((input) => Number(input.value)),
          numbers: [...place.querySelectorAll("[data-number]")].map((one) => [one.dataset.number, one.textContent]),
        })"""
        return self.place.evaluate(script)

    def state_of(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """The stored state with what the controls in the page say now."""
        now = dict(self.state)
        assert len(shown["fields"]) == len(self.controls) == len(self.traits)
        for at, control in enumerate(self.controls):
            now[self.traits[at]] = value_of(shown["fields"][at], control)
        if shown["logits"]:
            now["logits"] = shown["logits"]
        if self.tails:
            now[f"tail_{now['prompt']}"] = self.tail(now["prompt"])
        return now

    def tail(self, prompt: int) -> bytes:
        """The bytes that the page has loaded for a prompt."""
        if prompt not in self.loaded:
            key = self.tails[f"tail_{prompt}"]["file"]
            self.loaded[prompt] = base64.b64decode(self.page.evaluate("(key) => window.widgetData[key]", key))
        return self.loaded[prompt]

    def check(self, **known: Any) -> dict[str, Any]:
        """Compare every number on the screen with lmhead's, and all else; give the state that they belong to."""
        shown = self.read()
        state = {**self.state_of(shown), **known}
        numbers = expected_numbers(self.name, state)
        expected = flat(numbers)
        drawn = dict(shown["numbers"])
        assert drawn, f"{self.name} draws no numbers"
        wrong = {n: (t, expected.get(n)) for n, t in drawn.items() if n not in expected or not shows(t, expected[n])}
        assert wrong == {}, f"{self.name} at {settings(state)}"
        for at, control in enumerate(self.controls):
            said, wanted = shown["controls"][at], said_of(control, state[self.traits[at]])
            assert said == wanted, f"{self.name} says {said}, not {wanted}"
        check_drawing(self.name, self.place.evaluate(READ), state, numbers)
        return state


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


def expected_numbers(view: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers that a view may draw, by lmhead."""
    expected = {key: state[key] for key in ("steps",) if key in state}
    if view == "prompts":
        expected["logit"] = np.add(state["top"][state["prompt"]], state["largest"][state["prompt"]]).tolist()
    elif "logits" in state:
        expected["logit"] = state["logits"]
    if view == "directions":
        expected["column_length"] = np.linalg.norm(state["W_U"], axis=0).tolist()
    return expected | NUMBERS[view](state)


def flat(numbers: Mapping[str, Any]) -> dict[str, float]:
    """`{"p": [0.1, 0.9]}` as `{"p.0": 0.1, "p.1": 0.9}`."""
    found: dict[str, float] = {}
    for name, value in numbers.items():
        if isinstance(value, list):
            found |= {f"{name}.{at}": entry for at, entry in enumerate(value)}
        else:
            found[name] = value
    return found


def widgets_of(page: Page) -> list[Widget]:
    """The widgets of a page, quick checks left out."""
    stored = stored_state(page)
    places = page.locator("div.widget").all()
    found = [Widget(page, place, stored) for place in places]
    return [widget for widget in found if widget.name != "quiz"]


def stored_state(page: Page) -> dict[str, Any]:
    script = page.locator(f"script[type='{STATE}']")
    return json.loads(script.text_content() or "") if script.count() else {}
