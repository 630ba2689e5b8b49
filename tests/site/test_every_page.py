"""Every page in a real browser with the network closed: quiet, as wide as the screen, and accessible by axe's rules."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Locator, Page

from tests.support.live import closed_network, luminance, open_page

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_quiet_fits_and_is_accessible(browser: Browser, addresses: list[str], width: int) -> None:
    """In the light, and, as the system's setting changes while the page is open, in the dark."""
    troubles: list[str] = []
    viewport = {"width": width, "height": 900}
    with closed_network(browser, troubles, color_scheme="light", viewport=viewport, reduced_motion="reduce") as context:
        for address in addresses:
            page = open_page(context, address)
            name = address.rpartition("/")[2]
            if page.locator(".widget-failed").count():
                troubles.append(f"{name}: a widget failed")
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
                too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if too_wide > 0:
                    troubles.append(f"{name}, {scheme}: {too_wide} px wider than the screen")
                troubles += [f"{name}, {scheme}: {violation}" for violation in violations(page, scheme)]
            page.close()
    assert troubles == [], "\n".join(troubles)


def test_no_page_scrolls_sideways_at_320_pixels(browser: Browser, addresses: list[str]) -> None:
    """As wide as a page of 1280 px is at 400 % zoom; what is wider, code or a formula, scrolls by itself."""
    with closed_network(browser, [], viewport={"width": 320, "height": 900}) as context:
        width = "document.documentElement.scrollWidth"
        widths = {address: open_page(context, address).evaluate(width) for address in addresses}
    assert {address: width for address, width in widths.items() if width > 320} == {}


def test_what_is_folded_is_printed(browser: Browser, addresses: list[str]) -> None:
    """Its content is painted on paper, by a style; by a script where a browser lacks that selector."""
    painted = """() => [...document.querySelectorAll("article details")].filter((one) => !one.open).map((one) =>
      [...one.children].slice(1).every((part) => part.checkVisibility() && part.getBoundingClientRect().height > 5))"""
    folded = "document.querySelectorAll('details:not([open])').length"
    found = 0
    with closed_network(browser, []) as context:
        for address in addresses:
            page = open_page(context, address)
            assert not any(page.evaluate(painted)), address
            page.emulate_media(media="print")
            found += len(page.evaluate(painted))
            assert all(page.evaluate(painted)), address
            before = page.evaluate(folded)
            for event, left in (("beforeprint", 0), ("afterprint", before)):
                page.evaluate("(event) => dispatchEvent(new Event(event))", event)
                assert page.evaluate(folded) == left, (address, event)
            page.close()
    assert found > 20


def test_pictures_are_seen_in_the_systems_colours(browser: Browser, addresses: list[str]) -> None:
    """On a black page in the system's colours as much of each picture stands out from its ground as in the light."""
    (landing,) = [address for address in addresses if address.endswith("book/index.html")]
    chapter = next(address for address in addresses if "03_columns" in address)
    seen = []
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "forced_colors": "active"}):
        with closed_network(browser, [], **options) as context:
            pages = [open_page(context, address) for address in (landing, chapter)]
            seen.append([standing_out(one) for page in pages for one in page.locator("article img:visible").all()])
    light, forced = seen
    assert len(light) == len(forced) > 6 and min(light) > 100
    assert all(now > 0.8 * then for then, now in zip(light, forced, strict=True)), (
        seen
    )  # in the dark a card has a margin


def standing_out(picture: Locator) -> int:
    """The pixels of a picture whose contrast to its ground, the colour that most of it has, is 3 or more."""
    picture.scroll_into_view_if_needed()
    light = luminance(np.array(Image.open(io.BytesIO(picture.screenshot())).convert("RGB")) / 255)
    ground = np.median(light)
    return int(((np.maximum(light, ground) + 0.05) / (np.minimum(light, ground) + 0.05) >= 3).sum())


def test_a_page_opened_in_the_dark_is_dark_from_the_start(browser: Browser, addresses: list[str]) -> None:
    troubles: list[str] = []
    with closed_network(browser, troubles, color_scheme="dark") as context:
        for address in addresses:
            assert open_page(context, address).evaluate("document.documentElement.dataset.theme") == "dark", address
    assert troubles == [], "\n".join(troubles)


COLOUR_RULES = ["color-contrast", "link-in-text-block"]

# Most of axe's time would go into the colours of code, word by word. Each look that words have is shown once instead.
SHOW_EVERY_LOOK = """() => {
  for (const old of document.querySelectorAll(".every-look")) old.remove();
  const shown = new Map();
  for (const word of document.querySelectorAll(".highlight pre span")) {
    if (!word.checkVisibility()) continue;
    const block = word.closest(".highlight");
    const behind = getComputedStyle(block).backgroundColor + getComputedStyle(word.closest("pre")).backgroundColor;
    if (!shown.has(behind)) {
      const copy = block.cloneNode(true);
      copy.classList.add("every-look");
      copy.querySelector("pre").replaceChildren();
      shown.set(behind, { block, copy, looks: new Set() });
    }
    const { copy, looks } = shown.get(behind);
    const { color, fontSize, fontWeight, opacity, backgroundColor } = getComputedStyle(word);
    const look = [color, fontSize, fontWeight, opacity, backgroundColor].join();
    if (!looks.has(look)) copy.querySelector("pre").append(word.cloneNode(true), " ");
    looks.add(look);
  }
  for (const { block, copy } of shown.values()) block.after(copy);
  return [...shown.values()].reduce((sum, { looks }) => sum + looks.size, 0);
}"""


def violations(page: Page, scheme: str) -> list[str]:
    """What axe finds, of any impact. In the dark, which changes colours alone, by the rules that look at colours."""
    found = [] if scheme == "dark" else axe(page, {}, rules={rule: {"enabled": False} for rule in COLOUR_RULES})
    page.evaluate(SHOW_EVERY_LOOK)
    found += axe(page, {"exclude": [[".highlight:not(.every-look) pre"]]}, runOnly=COLOUR_RULES)
    return [f"{one['id']} ({one['impact']}) at {[node['target'] for node in one['nodes']][:3]}" for one in found]


def axe(page: Page, context: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """Its answer; without `preload`, for which it asks for style sheets at wrong addresses."""
    options |= {"preload": False, "resultTypes": ["violations"]}
    return Axe().run(page, context=context, options=options).response["violations"]


def test_a_word_of_code_that_cannot_be_read_is_seen(browser: Browser, addresses: list[str]) -> None:
    (address,) = [address for address in addresses if "06_cross_entropy" in address]
    with closed_network(browser, []) as context:
        page = open_page(context, address)
        assert page.evaluate(SHOW_EVERY_LOOK) >= 4
        page.add_style_tag(content=".highlight .nb { color: #bbb !important }")
        (found,) = violations(page, "light")
        assert found.startswith("color-contrast") and "every-look" in found
