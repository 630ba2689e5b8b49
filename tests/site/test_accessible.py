"""Pages on a phone, by axe's rules, with the focus and the letters of figures seen; and that what is not seen is red.

All pages, by axe on a wide screen alone: `test_every_page.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from tests.support.accessible import READABLE, focus_unseen, smallest_letters, unreadable, violations
from tests.support.live import closed_network, open_page

ON_A_PHONE = ("book/index.html", "06_cross_entropy_by_hand.html", "search.html")  # one page of each layout


def test_a_page_on_a_phone_is_accessible(browser: Browser, addresses: list[str], site: Path) -> None:
    troubles: list[str] = []
    letters = []
    pages = [address for address in addresses if address.endswith(ON_A_PHONE)]
    assert len(pages) == len(ON_A_PHONE)
    with closed_network(browser, troubles, color_scheme="light", viewport={"width": 390, "height": 900}) as context:
        for address in pages:
            page = open_page(context, address)
            troubles += [f"{address}: {trouble}" for trouble in violations(page, set())]
            letters.append(smallest_letters(page, site))
            troubles += [f"{address}: letters of {letters[-1]:.2f} pixels"] if letters[-1] < READABLE else []
    assert min(letters) < np.inf  # one of them has figures
    assert troubles == [], "\n".join(troubles)


@pytest.fixture(scope="module")
def chapter(addresses: list[str]) -> str:
    (address,) = [address for address in addresses if address.endswith("teach.html")]
    return address


@pytest.fixture(scope="module")
def looks(browser: Browser, chapter: str) -> set[str]:
    """Those of the words of a page on which all can be read."""
    with closed_network(browser, [], color_scheme="light") as context:
        seen = set[str]()
        assert unreadable(open_page(context, chapter), seen) == [] and len(seen) >= 20
    return seen


SPOILT = ("article p", "article li", ".highlight .nb", "article p > a")
SPOILT_IN_THE_DARK = ("article p", ".highlight .nb")
RULES = [f"{words} {{ color: #bbb !important }}" for words in SPOILT]
RULES += [f"html[data-theme=dark] {words} {{ color: #444 !important }}" for words in SPOILT_IN_THE_DARK]


@pytest.mark.parametrize("rule", RULES)
def test_a_word_that_cannot_be_read_is_seen(browser: Browser, chapter: str, looks: set[str], rule: str) -> None:
    """Also on a page whose other words have been looked at, and if it is so in the dark alone."""
    with closed_network(browser, [], color_scheme="light") as context:
        page = open_page(context, chapter)
        page.add_style_tag(content=rule)
        found = unreadable(page, {*looks})
        assert found and found[0].startswith("color-contrast")


LOST = {  # what takes the focus away from the eye -> the schemes in which it does
    ".copybtn:focus-visible { outline: none !important; box-shadow: none !important }": ("dark", "light"),
    "html[data-theme=light] .copybtn:focus-visible { outline-color: transparent !important }": ("light",),
    "html[data-theme=dark] .copybtn:focus-visible { outline-color: color(srgb 1 1 1 / 0.1) !important }": ("dark",),
    "html[data-theme=light] .copybtn:focus-visible { outline-color: color(srgb 0 0 0 / 0.1) !important }": ("light",),
}


@pytest.mark.parametrize("rule", LOST)
def test_a_button_that_does_not_show_the_focus_is_seen(browser: Browser, chapter: str, rule: str) -> None:
    with closed_network(browser, [], color_scheme="light") as context:
        page = open_page(context, chapter)
        assert focus_unseen(page, set()) == []
        page.add_style_tag(content=rule)
        found = focus_unseen(page, set())
    assert [one.split()[3] for one in found] == [*LOST[rule]] and all("copybtn" in one for one in found), found
