"""What a screen reader is given: formulas in words, and Chromium's accessibility tree of pages."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree

import pytest
import static_math
from docutils import nodes
from playwright.sync_api import Browser

from tests.support.live import closed_network, open_page

# ---- formulas

SAID = {  # formulas, ten of them of the book, and how MathML reads them
    r"z = h W_U + b": "z = h (W sub U) + b",
    r"W_U = E^\top": "(W sub U) = (E to ⊤)",
    r"L = -\log p_y": "L = − log (p sub y)",
    r"\sqrt{d_{\mathrm{model}}} = 24": "(root of (d sub model)) = 24",
    r"z_i - z_j = h \cdot (w_i - w_j)": "(z sub i) − (z sub j) = h ⋅ ( (w sub i) − (w sub j) )",
    r"p_j = \frac{e^{z_j}}{\sum_{k} e^{z_k}}": "(p sub j) = ((e to (z sub j)) over (∑ sub k) (e to (z sub k)))",
    r"G = \frac{1}{N}\,(p - \mathrm{onehot}(y))": "G = (1 over N) ( p − onehot ( y ) )",
    r"dW_U = H^\top G \qquad dH = G\, W_U^\top": "d (W sub U) = (H to ⊤) G d H = G (W sub U to ⊤)",
    r"\lVert h \rVert\,\lVert w_j \rVert \cos\theta_j": "∥ h ∥ ∥ (w sub j) ∥ cos (θ sub j)",
    r"W_{\mathrm{lm}} \ne W_{\mathrm{Q4}}": "(W sub lm) ≠ (W sub Q4)",
    r"p^{(n)}_{y^{(n)}} \ge e^{-\chi^2/2}": "(p sub (y to ( n )) to ( n )) ≥ (e to − (χ to 2) / 2)",
}
JOINED = {"msub": " sub ", "munder": " sub ", "msup": " to ", "mfrac": " over "}


def words(element: ElementTree.Element) -> str:
    """MathML in words, in the order in which a screen reader goes through it."""
    parts = [words(child) for child in element if not child.tag.endswith("annotation")]
    parts = [part for part in parts if part]
    tag = element.tag.rpartition("}")[2]
    if tag in JOINED:
        return f"({parts[0]}{JOINED[tag]}{parts[1]})"
    if tag == "msubsup":
        return f"({parts[0]} sub {parts[1]} to {parts[2]})"
    if tag == "msqrt":
        return f"(root of {' '.join(parts)})"
    assert tag in ("math", "semantics", "mrow", "mstyle", "mi", "mo", "mn", "mtext", "mspace", "mpadded"), tag
    return " ".join([*re.findall(r"[^\s\u2061-\u2064]+", element.text or ""), *parts])


@pytest.mark.site
@pytest.mark.parametrize("tex", SAID)
def test_a_formula_is_said_as_it_is_written(tex: str) -> None:
    drawn = static_math.render(tex, display=False, location=nodes.math())
    (mathml,) = re.findall(r"<math.*?</math>", drawn, re.S)
    assert words(ElementTree.fromstring(mathml)) == SAID[tex]
    assert re.search(r'<span class="katex-html" aria-hidden="true">', drawn), "what is drawn is not said again"


# ---- the tree that a browser gives them


def test_a_chapter_is_said_in_order_and_each_formula_once(browser: Browser, addresses: list[str]) -> None:
    """From the accessibility tree: headings without a gap, tables with headers, formulas without what is drawn."""
    with closed_network(browser, []) as context:
        page = open_page(context, next(one for one in addresses if "notation" in one))
        tree = context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
        formulas = page.locator("article .katex").count()
        drawn = page.locator("article .katex-html").first.inner_text()
        tables, heads = (page.locator(f"article {one}").count() for one in ("table", "thead th"))
    said = [node for node in tree if not node["ignored"]]
    roles = [node["role"]["value"] for node in said]
    levels = [property_of(node, "level") for node in said if node["role"]["value"] == "heading"]
    assert levels.count(1) == 1
    assert all(later <= level + 1 for level, later in itertools.pairwise(levels)), levels
    assert roles.count("MathMLMath") == formulas > 20 and drawn
    assert roles.count("table") == tables > 2 and roles.count("columnheader") == heads > 8
    assert not any("\\\\" in node.get("name", {}).get("value", "") for node in said), "TeX is said"


def property_of(node: dict[str, Any], name: str) -> Any:
    return next(one["value"]["value"] for one in node["properties"] if one["name"] == name)


def test_a_slider_says_its_number_and_no_other_field_does(browser: Browser, gallery: str) -> None:
    """In the accessibility tree; what is announced once it rests: test_browser.py."""
    with closed_network(browser, []) as context:
        page = open_page(context, gallery)
        session = context.new_cdp_session(page)

        def said() -> dict[int, tuple[str, str]]:
            nodes = session.send("Accessibility.getFullAXTree")["nodes"]
            sliders = [node for node in nodes if node.get("role", {}).get("value") == "slider"]
            return {
                one["backendDOMNodeId"]: (one["name"]["value"], str(property_of(one, "valuetext"))) for one in sliders
            }

        before = said()
        moved = page.locator(".widget input[type=range]").first
        moved.press("ArrowRight")
        after, spoken = said(), moved.get_attribute("aria-valuetext")
    changed = {node: (before[node], after[node]) for node in before if before[node] != after[node]}
    assert len(before) > 2 and all(name for name, _ in before.values())
    (((name, _), (new_name, value)),) = changed.values()
    assert name == new_name and value == spoken


def test_the_contents_of_a_narrow_page_open_and_close(browser: Browser, addresses: list[str]) -> None:
    """Those of the book, and those of the page: a dialog that keeps the focus.

    Closed by a key or beside it, it gives the focus back to its button, without a tooltip; a choice in it leads there.
    """
    troubles: list[str] = []
    narrow = {"viewport": {"width": 390, "height": 900}, "has_touch": True}
    with closed_network(browser, troubles, **narrow) as context:
        context.clock.install()
        page = open_page(context, next(one for one in addresses if "04_weight_tying" in one))
        for side, beside in (("primary", 385), ("secondary", 5)):
            button, dialog = (page.locator(one) for one in (f".{side}-toggle:visible", f"#pst-{side}-sidebar-modal"))
            links = dialog.locator("a[href^='#']:visible")
            for touched in (False, True):
                button.tap() if touched else button.press("Enter")
                assert links.count() and page.locator("dialog:modal").count() == 1
                for key in ("Tab", *["Shift+Tab"] * 3, "Tab"):  # over its beginning too, where nothing may have it
                    page.keyboard.press(key)
                    assert page.locator("dialog:modal:focus, dialog:modal :focus, body:not(:has(:focus))").count() == 1
                page.touchscreen.tap(beside, 450) if touched else links.first.press("Escape")
                page.wait_for_function("(button) => button === document.activeElement", arg=button.element_handle())
                page.clock.fast_forward(700)  # a tooltip is shown half a second after the focus or the mouse has come
                assert page.locator("dialog[open], .tooltip").count() == 0 == links.count()
            button.press("Enter")
            place = links.last.get_attribute("href")
            links.last.press("Enter")
            page.wait_for_function("() => !document.querySelector('dialog[open], :focus')")
            assert page.url.endswith(f".html{place}")
    assert troubles == [], "\n".join(troubles)


def test_the_skip_link_leads_past_the_contents(browser: Browser, addresses: list[str]) -> None:
    focused = "document.activeElement"
    with closed_network(browser, []) as context:
        page = open_page(context, next(one for one in addresses if "04_weight_tying" in one))
        page.keyboard.press("Tab")
        box = page.locator("#pst-skip-link a:focus").bounding_box()
        assert box and box["y"] >= 0 and box["width"] > 50, "it is seen while it has the focus"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate(f"document.getElementById('main-content').contains({focused})")
