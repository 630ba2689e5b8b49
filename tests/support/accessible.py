"""What axe finds on a page, in the light and in the dark."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

COLOUR_RULES = ["color-contrast", "link-in-text-block"]


def axe(page: Page, context: dict[str, Any] | None = None, **options: Any) -> list[str]:
    """What it finds, of any impact, on all of a page or a part.

    Without `preload`, for which it asks for style sheets at wrong addresses.
    """
    if not page.evaluate("'axe' in window"):  # once a page: it is long
        page.evaluate(Axe().axe_script)
    options |= {"preload": False, "resultTypes": ["violations"]}
    run = "async ([context, options]) => (await axe.run(context ?? document, options)).violations"
    found = page.evaluate(run, [context, options])
    return [f"{one['id']} ({one['impact']}) at {[node['target'] for node in one['nodes']][:3]}" for one in found]


# Most of axe's time would go into words that look alike. A look is what its rules of colours go by, and is judged once.
# (They call words large from 24 px on, bold ones from 18.66; of a link they see the words around it too.)
MARK_NEW_LOOKS = """([known, scheme]) => {
  const seen = new Set(known), found = [];
  const ground = new Map([[null, "none"]]);
  const groundOf = (element) => {
    if (!ground.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const clear = /rgba\\(.*, 0\\)/.test(backgroundColor) && backgroundImage === "none" && opacity === "1";
      ground.set(element, clear ? groundOf(element.parentElement) : backgroundColor + backgroundImage + opacity +
        (/^rgb\\(/.test(backgroundColor) && opacity === "1" ? "" : groundOf(element.parentElement)));
    }
    return ground.get(element);
  };
  for (const element of document.body.querySelectorAll("*")) {
    const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const field = element.matches("input, select");
    if (!(says || field) || !element.checkVisibility({ checkVisibilityCSS: true })) continue;
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element);
    const large = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.66 : 24);
    const around = getComputedStyle(element.parentElement).color;
    const link = element.tagName === "A" && [textDecorationLine, fontWeight, around];
    const look = [color, groundOf(element), large, field, link].join();
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


def violations(page: Page, seen: set[str]) -> list[str]:
    """By all rules; the colours of each look that words have on this page and had on none before."""
    return unreadable(page, seen) + axe(page, rules={rule: {"enabled": False} for rule in COLOUR_RULES})


def unreadable(page: Page, seen: set[str]) -> list[str]:
    """What axe finds in the colours of each look that words have on this page and had on none before.

    Of the code only words with a look of their own are left on the page.
    """
    with_new = []
    for scheme in ("dark", "light"):  # pages are opened in the dark
        turn(page, scheme)
        if new := page.evaluate(MARK_NEW_LOOKS, [list(seen), scheme]):
            seen.update(new)
            with_new.append(scheme)
    page.evaluate(LEAVE_OTHER_WORDS_OF_CODE)
    found = []
    for scheme in reversed(with_new):  # the page is light now
        turn(page, scheme)
        found += axe(page, {"include": [[f"[data-{scheme}]"]]}, runOnly=COLOUR_RULES)
    return found


def turn(page: Page, scheme: str) -> None:
    """Light or dark, as the system's setting changes while the page is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
