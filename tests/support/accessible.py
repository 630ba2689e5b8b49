"""What axe finds on a page, where the focus is not seen in the light or in the dark, and how small letters are."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.live import contrast, luminance

COLOUR_RULES = ["color-contrast", "link-in-text-block"]
READABLE = 8.5  # pixels: letters of a figure are drawn smaller than words


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


# Gives the focus to one of each kind of element that the Tab key reaches, and tells how that is seen: the outlines and
# shadows that were not there before, of each the colour as painted and that of the ground around what it is drawn at.
# A kind: the names of an element and of its parent.
FOCUS_EACH_KIND = """([known, scheme]) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (colours) => {
    for (canvas.fillStyle of colours) canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const grounds = (one) => one ? [...grounds(one.parentElement), getComputedStyle(one).backgroundColor] : ["white"];
  const kinds = {}, name = (one) => [one.localName, one.type, ...one.classList].join(".");
  const rings = (one) => [[one, ""], [one, "::before"], [one, "::after"], [one.parentElement, ""]].flatMap((part) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(...part);
    const outline = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 ? [outlineColor] : [];
    const colours = [...outline, ...(boxShadow.match(/[a-z]+\\([^()]*\\)(?= 0px 0px 0px [2-9]px)/g) ?? [])];
    const around = grounds(part[0].parentElement);
    return colours.map((colour) => [painted([...around, colour]), painted(around)]);
  });
  document.activeElement.blur();
  for (const one of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
    const kind = `focus in the ${scheme} on ${name(one.parentElement)} > ${name(one)}`;
    if (kind in kinds || known.includes(kind) || !one.checkVisibility({ visibilityProperty: true })) continue;
    if (one.getBoundingClientRect().bottom + scrollY <= 0) continue; // the link past the contents shows by being there
    const before = rings(one).map(String);
    one.focus({ preventScroll: true });
    if (document.activeElement === one) kinds[kind] = rings(one).filter((ring) => !before.includes(String(ring)));
  }
  document.activeElement.blur();
  return kinds;
}"""


def violations(page: Page, known: set[str]) -> list[str]:
    """By all rules; colours of looks and focus of kinds that were met on no page before. Words of code are left out."""
    found = focus_unseen(page, known) + unreadable(page, known)
    return found + axe(page, rules={rule: {"enabled": False} for rule in COLOUR_RULES})


def focus_unseen(page: Page, known: set[str]) -> list[str]:
    """Each kind of element, first met on this page, that does not show the focus of the keyboard."""
    page.keyboard.press("Tab")  # from now on the focus is the keyboard's
    found = []
    for scheme in ("dark", "light"):
        turn(page, scheme)
        kinds = page.evaluate(FOCUS_EACH_KIND, [list(known), scheme])
        known.update(kinds)
        found += [f"{kind}: {rings}" for kind, rings in kinds.items() if not is_seen(rings)]
    return found


def is_seen(rings: list[list[list[int]]]) -> bool:
    """Whether one of some rings has a contrast of 3 to its ground, both as painted, from 0 to 255."""
    return any(contrast(ring, ground) >= 3 for ring, ground in luminance(np.reshape(rings, (-1, 2, 3)) / 255))


def unreadable(page: Page, known: set[str]) -> list[str]:
    """What axe finds in the colours of each look that words have on this page and had on none before.

    Of the code only words with a look of their own are left on the page.
    """
    with_new, found = [], []
    for scheme in ("light", "dark"):
        turn(page, scheme)
        if new := page.evaluate(MARK_NEW_LOOKS, [list(known), scheme]):
            known.update(new)
            with_new.append(scheme)
    page.evaluate(LEAVE_OTHER_WORDS_OF_CODE)
    for scheme in reversed(with_new):  # from where the page is: to turn it takes longer than to look
        turn(page, scheme)
        found += axe(page, {"include": [[f"[data-{scheme}]"]]}, runOnly=COLOUR_RULES)
    return found


def turn(page: Page, scheme: str) -> None:
    """Light or dark, as the system's setting changes while the page is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)


def smallest_letters(page: Page, site: Path) -> float:
    """The size in pixels of the smallest letters in the figures of a page, as painted; infinite where there is none."""
    images = page.locator(".cell_output figure img").evaluate_all(
        "(images) => images.map((one) => [new URL(one.src).pathname, one.getBoundingClientRect().width])"
    )
    return min((width * smallest_letter(site / path[1:]) for path, width in images), default=np.inf)


@cache
def smallest_letter(figure: Path) -> float:
    """Of a picture by matplotlib, whose letters are 100 units high before they are scaled; as a share of its width."""
    svg = figure.read_text("utf-8")
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+)', svg)
    return min(100 * float(scale) for scale in re.findall(r"scale\(([\d.]+) -", svg)) / float(width)
