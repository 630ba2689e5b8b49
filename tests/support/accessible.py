"""What axe finds on a page, and where the focus is not seen, in the light and in the dark."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.live import contrast, luminance

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


# Gives the focus to one of each kind of element that the Tab key reaches, and tells how that is seen: the colours of
# the outlines and shadows that it had not before, and of the page. A kind: the names of an element and of its parent.
FOCUS_EACH_KIND = """([known, scheme]) => {
  const kinds = {}, name = (one) => [one.localName, one.type, ...one.classList].join(".");
  const rings = (one) => [[one, ""], [one, "::before"], [one, "::after"], [one.parentElement, ""]].flatMap((part) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(...part);
    const outline = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 ? [outlineColor] : [];
    return [...outline, ...(boxShadow.match(/^rgba?\\(.*?\\)(?= 0px 0px 0px [2-9]px)/) ?? [])];
  });
  document.activeElement.blur();
  for (const one of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
    const kind = `focus in the ${scheme} on ${name(one.parentElement)} > ${name(one)}`;
    if (kind in kinds || known.includes(kind) || !one.checkVisibility({ visibilityProperty: true })) continue;
    if (one.getBoundingClientRect().bottom + scrollY <= 0) continue; // the link past the contents shows by being there
    const before = rings(one);
    one.focus({ preventScroll: true });
    if (document.activeElement === one) kinds[kind] = rings(one).filter((ring) => !before.includes(ring));
  }
  document.activeElement.blur();
  return [kinds, getComputedStyle(document.body).backgroundColor];
}"""


def violations(page: Page, seen: set[str]) -> list[str]:
    """By all rules; the colours of each look that words have on this page and had on none before."""
    return unseen(page, seen) + axe(page, rules={rule: {"enabled": False} for rule in COLOUR_RULES})


def unseen(page: Page, seen: set[str]) -> list[str]:
    """What axe finds in the colours of each look that words have on this page and had on none before.

    And each kind of element, first met on this page, that does not show the focus of the keyboard. Of the code only
    words with a look of their own are left on the page.
    """
    page.keyboard.press("Tab")  # from now on the focus is the keyboard's
    with_new, found = [], []
    for scheme in ("dark", "light"):  # pages are opened in the dark
        turn(page, scheme)
        kinds, ground = page.evaluate(FOCUS_EACH_KIND, [list(seen), scheme])
        seen.update(kinds)
        found += [f"{kind}: {rings} on {ground}" for kind, rings in kinds.items() if not is_seen(rings, ground)]
        if new := page.evaluate(MARK_NEW_LOOKS, [list(seen), scheme]):
            seen.update(new)
            with_new.append(scheme)
    page.evaluate(LEAVE_OTHER_WORDS_OF_CODE)
    for scheme in reversed(with_new):  # the page is light now
        turn(page, scheme)
        found += axe(page, {"include": [[f"[data-{scheme}]"]]}, runOnly=COLOUR_RULES)
    return found


def is_seen(colours: list[str], ground: str) -> bool:
    """Whether one of some colours, as a browser writes them, has a contrast of 3 to the ground."""
    behind, *others = (np.array(re.findall(r"[\d.]+", one)[:3], float) / 255 for one in (ground, *colours))
    return any(contrast(luminance(one), float(luminance(behind))) >= 3 for one in others)


def turn(page: Page, scheme: str) -> None:
    """Light or dark, as the system's setting changes while the page is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
