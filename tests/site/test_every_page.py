"""Every page in a real browser with the network closed, opened once: in the dark, on paper, narrow, by axe's rules."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.support.accessible import READABLE, smallest_letters, violations
from tests.support.live import closed_network, luminance, open_page
from tests.support.styles import picture
from tools.chapters import CHAPTERS

# The bar of a cell that can be run has no place on paper.
FOLDS = """() => [...document.querySelectorAll("article details")].filter((one) => !one.open).map((one) =>
  [...one.children].slice(1).filter((part) => !part.matches(".python-bar")).every((part) =>
    part.checkVisibility() && part.getBoundingClientRect().height > 5))"""
NEEDLESS_STOPS = """() => [...document.querySelectorAll("article [tabindex='0']:is(.katex-display, figure)")]
  .filter((one) => one.scrollWidth <= one.clientWidth).length"""
OPEN = "document.querySelectorAll('details:not([open])').length"


class Seen(NamedTuple):
    """What was seen of a page."""

    theme: str
    folds: list[bool]  # whether the content of each closed fold is painted
    folds_on_paper: list[bool]
    closed: list[int]  # folds: before, while and after a browser without that style prints
    widths: dict[int, int]  # by the width of the screen
    letters: dict[int, float]  # the smallest in its figures, by the width of the screen, in pixels
    needless: int  # stops of the Tab key at what has nothing to scroll
    violations: list[str]  # of axe's rules


@pytest.fixture(scope="module")
def seen(browser: Browser, addresses: list[str], site: Path) -> Iterator[dict[str, Seen]]:
    """Each page opened once; nothing may go wrong in it."""
    troubles: list[str] = []
    pages, looks = {}, set[str]()
    with closed_network(browser, troubles, color_scheme="dark") as context:
        for address in addresses:
            page = open_page(context, address)
            theme, folds, closed = page.evaluate("document.documentElement.dataset.theme"), page.evaluate(FOLDS), []
            page.emulate_media(media="print")
            on_paper = page.evaluate(FOLDS)
            for event in ("beforeprint", "afterprint"):
                closed.append(page.evaluate(OPEN))
                page.evaluate("(event) => dispatchEvent(new Event(event))", event)
            closed.append(page.evaluate(OPEN))
            page.emulate_media(media="screen")
            widths, letters = {}, {}
            for width in (1280, 390, 320):
                page.set_viewport_size({"width": width, "height": 900})
                widths[width] = page.evaluate("document.documentElement.scrollWidth")
                letters[width] = smallest_letters(page, site)
            page.set_viewport_size({"width": 1280, "height": 900})
            needless = page.evaluate(NEEDLESS_STOPS)
            found = violations(page, looks)  # last: it leaves out words of code
            pages[address] = Seen(theme, folds, on_paper, closed, widths, letters, needless, found)
            assert not page.locator(".widget-failed").count(), address
            page.close()
    assert len(looks) > 30
    yield pages
    assert troubles == [], "\n".join(troubles)


def test_no_page_scrolls_sideways(seen: dict[str, Seen]) -> None:
    """320 px is a page of 1280 px at 400 % zoom; what is wider, code or a formula, scrolls by itself."""
    wider = {address: page.widths for address, page in seen.items() if any(w > s for s, w in page.widths.items())}
    assert wider == {}


def test_the_letters_of_a_figure_can_be_read_on_a_phone(seen: dict[str, Seen]) -> None:
    """As large as they are drawn there: on a narrow screen a figure scrolls before it gets too small."""
    assert {address: page.letters for address, page in seen.items() if min(page.letters.values()) < READABLE} == {}
    assert sum(min(page.letters.values()) < 20 for page in seen.values()) >= len(CHAPTERS)


def test_the_tab_key_stops_at_formulas_and_figures_that_scroll_alone(seen: dict[str, Seen]) -> None:
    assert {address: page.needless for address, page in seen.items() if page.needless} == {}


def test_every_page_is_accessible(seen: dict[str, Seen]) -> None:
    """In the light and in the dark, as the system's setting changes while the page is open; the focus is seen too."""
    assert {address: page.violations for address, page in seen.items() if page.violations} == {}


def test_what_is_folded_is_printed(seen: dict[str, Seen]) -> None:
    """Its content is painted on paper, by a style; by a script where a browser lacks that selector."""
    for address, page in seen.items():
        assert not any(page.folds) and all(page.folds_on_paper), address
        before, on_paper, after = page.closed
        assert on_paper == 0 and after == before, address
    assert sum(len(page.folds_on_paper) for page in seen.values()) > 20


def test_a_page_opened_in_the_dark_is_dark(seen: dict[str, Seen]) -> None:
    assert {address: page.theme for address, page in seen.items() if page.theme != "dark"} == {}


FIRST_THEME = """new MutationObserver((_, observer) => {
  if (!document.body) return;
  window.firstTheme = document.documentElement.dataset.theme;
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })"""


def test_a_page_has_its_colours_before_it_is_painted(browser: Browser, addresses: list[str]) -> None:
    """At a first visit, and when the system has changed since: else all of it would be painted twice."""
    with closed_network(browser, []) as context:
        context.add_init_script(FIRST_THEME)
        for scheme in ("dark", "light", "dark"):
            page = context.new_page()
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(addresses[0])
            assert page.evaluate("window.firstTheme") == scheme
            page.close()


COLOURS = """() => ["article p a", ".admonition", ".cell_input", ".highlight .nb"].map((place) => {
  const { color, backgroundColor, borderLeftColor } = getComputedStyle(document.querySelector(place));
  return [color, backgroundColor, borderLeftColor];
})"""


def test_without_scripts_a_page_has_the_colours_of_the_light(browser: Browser, addresses: list[str]) -> None:
    chapter = next(address for address in addresses if "06_cross" in address)
    seen = []
    for scripts in (True, False):
        with closed_network(browser, [], color_scheme="light", java_script_enabled=scripts) as context:
            page = context.new_page()
            page.goto(chapter)
            seen.append(page.evaluate(COLOURS))
    with_scripts, without = seen
    assert without == with_scripts


ALL_FIGURES = """async (files) => {
  const cell = document.querySelector("div.cell:has(figure img)");
  const cells = files.map((file) => {
    const one = cell.cloneNode(true);
    one.querySelector("img").src = `../_images/${file}`;
    return one;
  });
  document.querySelector("article").replaceChildren(...cells);
  await Promise.all([...document.querySelectorAll("article img")].map((image) => image.decode()));
}"""


def test_pictures_are_seen_in_the_systems_colours(browser: Browser, site: Path, addresses: list[str]) -> None:
    """On a black page in the system's colours as much of each picture stands out from its ground as in the light.

    The pictures of the landing page where they are, and the figures of all chapters in the place of one of them.
    """
    (landing,) = [address for address in addresses if address.endswith("book/index.html")]
    chapter = next(address for address in addresses if "03_columns" in address)
    figures = sorted(file.name for file in (site / "_images").glob("*.svg") if len(file.stem) == 64)
    seen = []
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "forced_colors": "active"}):
        with closed_network(browser, [], **options) as context:
            pages = [open_page(context, address) for address in (landing, chapter)]
            pages[1].evaluate(ALL_FIGURES, figures)
            seen.append([number for page in pages for number in standing_out(page)])
    light, forced = seen
    assert len(light) == len(forced) == len(figures) + 5 > 30 and min(light) > 100
    names = ["landing page"] * 5 + figures
    lost = {name: pair for name, *pair in zip(names, light, forced, strict=True) if pair[1] <= 0.8 * pair[0]}
    assert lost == {}  # a little is lost: in the dark a card has a margin


def standing_out(page: Page) -> list[int]:
    """Of each picture, the pixels whose contrast to its ground, the colour that most of it has, is 3 or more."""
    boxes = [one.bounding_box() for one in page.locator("article img:visible").all()]
    painted = Image.open(io.BytesIO(picture(page, whole=True))).convert("RGB")
    found = []
    for box in boxes:
        corners = [box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]]
        light = luminance(np.array(painted.crop([round(edge) for edge in corners])) / 255)
        ground = np.median(light)
        found.append(int(((np.maximum(light, ground) + 0.05) / (np.minimum(light, ground) + 0.05) >= 3).sum()))
    return found
