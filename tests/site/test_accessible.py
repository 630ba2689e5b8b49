"""Every page by axe's rules, in a real browser with the network closed: in the light, in the dark, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.support.live import closed_network, open_page

COLOUR_RULES = ["color-contrast", "link-in-text-block"]
ON_A_PHONE = ("book/index.html", "06_cross_entropy_by_hand.html", "search.html")  # one page of each layout


def test_every_page_is_accessible(browser: Browser, addresses: list[str]) -> None:
    troubles: list[str] = []
    seen: set[str] = set()
    with closed_network(browser, troubles, color_scheme="light") as context:
        for address in addresses:
            page = open_page(context, address)
            found = unreadable(page, seen)
            found += axe(page, {}, rules={rule: {"enabled": False} for rule in COLOUR_RULES})
            troubles += [f"{address}: {violation}" for violation in found]
            page.close()
    assert troubles == [], "\n".join(troubles)
    assert len(seen) > 100


def test_a_page_on_a_phone_is_accessible(browser: Browser, addresses: list[str]) -> None:
    troubles: list[str] = []
    pages = [address for address in addresses if address.endswith(ON_A_PHONE)]
    assert len(pages) == len(ON_A_PHONE)
    with closed_network(browser, troubles, color_scheme="light", viewport={"width": 390, "height": 900}) as context:
        for address in pages:
            troubles += [f"{address}: {violation}" for violation in axe(open_page(context, address), {})]
    assert troubles == [], "\n".join(troubles)


def axe(page: Page, context: dict[str, Any], **options: Any) -> list[str]:
    """What it finds, of any impact; without `preload`, for which it asks for style sheets at wrong addresses."""
    options |= {"preload": False, "resultTypes": ["violations"]}
    found = Axe().run(page, context=context, options=options).response["violations"]
    return [f"{one['id']} ({one['impact']}) at {[node['target'] for node in one['nodes']][:3]}" for one in found]


# Most of axe's time would go into the words of code, one by one. What has the same look is looked at once.
MARK_NEW_LOOKS = """([known, scheme]) => {
  const seen = new Set(known), found = [];
  const ground = new Map([[null, "none"]]);
  const groundOf = (element) => {
    if (!ground.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const clear = /rgba\\(.*, 0\\)/.test(backgroundColor) && backgroundImage === "none" && opacity === "1";
      ground.set(element, clear ? groundOf(element.parentElement) : backgroundColor + backgroundImage + opacity +
        (/^rgb\\(/.test(backgroundColor) ? "" : groundOf(element.parentElement)));
    }
    return ground.get(element);
  };
  for (const element of document.body.querySelectorAll("*")) {
    const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!(says || element.matches("input, select")) || !element.checkVisibility({ checkVisibilityCSS: true })) continue;
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element);
    const beside = element.tagName === "A" ? getComputedStyle(element.parentElement).color : "";
    const look = [element.tagName, color, fontSize, fontWeight, textDecorationLine, beside, groundOf(element)].join();
    if (seen.has(look)) continue;
    seen.add(look);
    found.push(look);
    element.dataset[scheme] = look;
  }
  return found;
}"""


LEAVE_OTHER_WORDS_OF_CODE = """() => {
  const marked = "[data-light], [data-dark]";
  for (const word of document.querySelectorAll(".highlight pre span"))
    if (!word.matches(marked) && !word.querySelector(marked)) word.replaceWith(word.textContent);
}"""


def unreadable(page: Page, seen: set[str]) -> list[str]:
    """What axe finds in the colours of each look that words have on this page and had on none before.

    Of the code only words with a look of their own are left on the page.
    """
    schemes = ("light", "dark")
    for scheme in schemes:
        turn(page, scheme)
        seen.update(page.evaluate(MARK_NEW_LOOKS, [list(seen), scheme]))
    page.evaluate(LEAVE_OTHER_WORDS_OF_CODE)
    found = []
    for scheme in schemes:
        turn(page, scheme)
        if page.locator(f"[data-{scheme}]").count():
            found += axe(page, {"include": [[f"[data-{scheme}]"]]}, runOnly=COLOUR_RULES)
    return found


def turn(page: Page, scheme: str) -> None:
    """Light or dark, as the system's setting changes while the page is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)


DARK = "html[data-theme=dark]"
SPOILT = [
    f"{word} {{ color: #bbb !important }}" for word in ("article p", "article li", ".highlight .nb", "article p > a")
]


@pytest.mark.parametrize(
    "rule", [*SPOILT, f"{DARK} article p {{ color: #444 }}", f"{DARK} .highlight .nb {{ color: #444 }}"]
)
def test_a_word_that_cannot_be_read_is_seen(browser: Browser, addresses: list[str], rule: str) -> None:
    """Also on a page whose other words have been looked at, and in the dark alone."""
    (address,) = [address for address in addresses if "06_cross_entropy" in address]
    with closed_network(browser, [], color_scheme="light") as context:
        page, seen = open_page(context, address), set[str]()
        assert unreadable(page, seen) == [] and len(seen) >= 20
        page.add_style_tag(content=rule)
        found = unreadable(page, seen)
        assert found and found[0].startswith("color-contrast")
