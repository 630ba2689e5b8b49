"""A page that wears the whole style sheets, or its own style, which `book/_ext/cut_styles.py` has cut from them."""

from __future__ import annotations

import base64
import io
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page

from tests.support.live import closed_network, open_page

CUT = re.compile(r"<!-- Cut from _static: (.*?) -->\n<style>\n(.*?)</style>", re.S)
LEFT_OUT = Path(__file__).with_name("left_out.js").read_text("utf-8")


def with_whole_sheets_too(page: str) -> str:
    """The HTML of a page with the style sheets from which its style was cut beside it."""
    (root,) = re.findall(r'data-content_root="([^"]*)"', page)
    (sheets, style) = CUT.search(page).groups()  # type: ignore[union-attr]
    links = "".join(f'<link rel="stylesheet" data-whole href="{root}_static/{sheet}">' for sheet in sheets.split())
    return CUT.sub(lambda _: f'{links}<style id="cut">{style}</style>', page)


@contextmanager
def opened(browser: Browser, address: str, *, both: bool) -> Iterator[Page]:
    """The page as it is, or with the whole style sheets too; in a window of its own, where nothing hides it."""
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        if both:

            def serve(route: Any) -> None:
                route.fulfill(body=with_whole_sheets_too(route.fetch().text()), content_type="text/html; charset=utf-8")

            context.route(address.partition("?")[0] + "*", serve)
        page = open_page(context, address)
        page.evaluate("document.fonts.ready")
        page.add_style_tag(content="* { caret-color: transparent !important }")  # it blinks
        if "search.html" in address:
            page.get_by_text("Search finished").wait_for()
        yield page
    assert troubles == []


def wear(page: Page, which: str) -> None:
    """Take the "whole" sheets alone, or its "own" style alone."""
    page.evaluate(
        """async (which) => {
          for (const link of document.querySelectorAll("link[data-whole]")) link.sheet.disabled = which !== "whole";
          document.getElementById("cut").sheet.disabled = which !== "own";
          document.body.offsetHeight; // styled anew: fonts are asked for
          await document.fonts.ready;
        }""",
        which,
    )


def left_out(page: Page) -> dict[str, Any]:
    """How many selectors its own style keeps and leaves out, and which are missed."""
    return page.evaluate(LEFT_OUT)


# What moves towards an end has come there; what turns for ever stands where it began.
AT_REST = """() => {
  for (const one of document.getAnimations())
    if (one.effect.getComputedTiming().endTime === Infinity) (one.currentTime = 0), one.pause();
    else one.finish();
}"""

ROUNDED = 24  # of 255: by so much an edge between two pixels may differ


def look_alike(one: Callable[[], bytes], other: Callable[[], bytes]) -> bool:
    """Whether two views are painted alike.

    A late font gets time. And a browser does not always paint a long page to the last pixel as it did before: each
    picture of the one is compared with all of the other.
    """
    firsts, seconds = set[bytes](), set[bytes]()
    for _ in range(8):
        first, second = one(), other()
        firsts.add(first)
        seconds.add(second)
        if firsts & seconds or differ_by(first, second) <= ROUNDED:
            return True
        time.sleep(0.4)
    return False


def view(page: Page, which: str = "", *, all_of_it: bool = True) -> Callable[[], bytes]:
    """What takes its picture, as it is or in one style of a page with both: of all of it, or of the window."""

    def take() -> bytes:
        if which:
            wear(page, which)
        page.evaluate(AT_REST)
        return picture(page, all_of_it)

    return take


def picture(page: Page, whole: bool) -> bytes:
    """The page as it is painted, losslessly."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"captureBeyondViewport": whole, "optimizeForSpeed": True})
    return base64.b64decode(shot["data"])


def differ_by(one: bytes, other: bytes) -> float:
    """The largest difference of a pixel's red, green or blue."""
    first, second = (Image.open(io.BytesIO(png)).convert("RGB") for png in (one, other))
    if first.size != second.size:
        return math.inf
    return float(np.max(ImageChops.difference(first, second).getextrema()))
