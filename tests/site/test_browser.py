"""Every view in a real browser with the network closed: what its controls do, what it says, how it is painted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from lmhead import cross_entropy, cross_entropy_grad, quiz
from tests.support.gallery import VIEWS
from tests.support.live import (
    Widget,
    closed_network,
    contrast,
    luminance,
    open_page,
    served,
    weakest_mark,
    widgets_of,
)


@pytest.fixture
def page(browser: Browser, gallery: str) -> Iterator[Page]:
    """The gallery, open; nothing may go wrong in it while a test runs."""
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        yield open_page(context, gallery)
    assert troubles == [], "\n".join(troubles)


def widget(page: Page, name: str) -> Widget:
    (found,) = [one for one in widgets_of(page) if one.name == name]
    found.place.scroll_into_view_if_needed()
    found.place.locator(".widget-view").wait_for(state="visible")
    return found


# ---- every control, by keyboard and by mouse


@pytest.mark.alone
def test_every_control_moves_the_numbers(page: Page) -> None:
    """Each slider by keys and by mouse, each menu and check box through all of its states."""
    moved = 0
    for one in widgets_of(page):
        widget(page, one.name).check()
        for slider in one.sliders():
            move(one, slider)
            moved += 1
        for menu in one.place.locator("select").all():
            for option in range(menu.locator("option").count()):
                menu.select_option(index=option)
                one.wait_for_data()
                one.check()
        for box in one.place.locator("input[type=checkbox]").all():
            for key in ("Space", "Space"):
                box.press(key)
                one.check()
    assert moved >= 20


def move(one: Widget, slider) -> None:
    """By keys and by mouse; the value has to change each time, and the numbers with it."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    for act in (
        lambda: drag(one.page, box, 0.3),
        lambda: slider.press("End"),
        lambda: slider.press("Home"),
        lambda: [slider.press("ArrowRight") for _ in range(2)],
        lambda: drag(one.page, box, 0.62),
        lambda: slider.press("ArrowLeft"),
    ):
        before = slider.input_value()
        act()
        assert slider.input_value() != before or slider.get_attribute("max") in ("1", "2"), (one.name, before)
        one.check()


def drag(page: Page, box, fraction: float) -> None:
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.9, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * fraction, y, steps=2)
    page.mouse.up()


# ---- what single views do


def test_a_quick_check_is_answered_by_keys_alone(page: Page) -> None:
    choice, number = page.locator(".lmhead-quiz form").all()
    choice.get_by_role("radio").nth(1).press("Space")
    choice.get_by_role("button").press("Enter")
    assert "That is the transposed product" in choice.locator(".lmhead-wrong").inner_text()
    choice.get_by_role("radio").nth(1).press("ArrowUp")
    assert choice.locator("[aria-live=polite]").inner_text() == "", "an old answer goes as the reply changes"
    choice.get_by_role("button").press("Enter")
    assert choice.locator(".lmhead-right").count() == 1
    field = number.get_by_role("textbox", name="answer bits")
    field.press_sequentially("2.0794")
    field.press("Enter")
    assert "These are nats" in number.locator(".lmhead-wrong").inner_text()


def test_a_number_that_is_not_understood_is_not_judged(page: Page) -> None:
    form = page.locator(".lmhead-quiz form").nth(1)
    field, said = form.get_by_role("textbox", name="answer bits"), form.locator("[aria-live=polite]")
    assert field.get_attribute("inputmode") == "decimal"
    for typed in ("1/2", "abc", "50 %", "--1", "inf"):
        field.fill(typed)
        field.press("Enter")
        assert said.inner_text() == quiz.WORDS["unread"].format(reply=typed)
        assert said.get_attribute("class") == "lmhead-answer"
        assert field.get_attribute("aria-invalid") == "true"
        assert field.get_attribute("aria-describedby") == said.get_attribute("id")
    for typed in ("3,0", "３．０", "3 bits", "+3", "0.3e1"):
        field.fill(typed)
        assert said.inner_text() == "" and field.get_attribute("aria-invalid") is None, "an old answer goes"
        field.press("Enter")
        assert said.get_attribute("class") == "lmhead-answer lmhead-right", typed
    field.fill("\u22123")
    field.press("Enter")
    assert "A minus sign was lost" in said.inner_text()


def test_a_drawn_token_is_counted_and_said(page: Page) -> None:
    one = widget(page, "probabilities")
    button, last = one.place.get_by_role("button"), one.place.locator(".lmhead-buttons span")
    tokens = []
    for n in range(1, 31):
        button.press("Enter")
        number, token = re.fullmatch(r"draw (\d+): (\w+)", last.inner_text()).groups()
        assert number == str(n)
        tokens.append(token)
    assert set(tokens) <= {"mat", "sofa", "floor"} and len(set(tokens)) > 1  # p .6675, .2222, .1103: three cross 0.9
    counts = [int(text) for text in one.place.locator("tbody td:last-child").all_inner_texts()]
    assert counts == [tokens.count(name) for name in one.state["labels"]]
    assert button.evaluate("(button) => button === document.activeElement"), "focus stays through all of it"
    one.sliders()[0].press("End")
    one.check()  # the counts have gone


def test_steps_follow_the_gradient_and_reset_goes_back(page: Page) -> None:
    one = widget(page, "gradient_step")
    step, reset = one.place.get_by_role("button").all()
    logits, target = np.array(one.state["logits"]), one.state["target"]
    losses = [cross_entropy(logits, target)]
    for steps in range(1, 6):
        step.press("Enter")
        logits = logits - one.state["learning_rate"] * cross_entropy_grad(logits, target)
        one.check(logits=logits.tolist(), steps=steps)
        losses.append(cross_entropy(logits, target))
    assert losses == sorted(losses, reverse=True)
    reset.press("Enter")
    one.check(steps=0)


# The size of the smallest letters that are painted in a view or a quick check, in pixels.
SMALLEST = """() => {
  const sizes = [...document.querySelectorAll(".widget-view *")].filter((one) =>
    [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && one.checkVisibility()
  ).map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.closest("svg") ? one.getScreenCTM().a : 1));
  return Math.min(...sizes);
}"""


def test_at_every_setting_views_fit_a_phone_and_can_be_read(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 900})

    def fit(setting: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, setting
        assert page.evaluate(SMALLEST) >= 9.5, setting

    for one in widgets_of(page):
        for key in ("Home", "End"):
            for slider in one.sliders():
                slider.press(key)
            fit(f"{one.name}: {key}")
    for box in page.locator(".widget input[type=checkbox]").all():
        box.press("Space")
    fit("every box turned")


def test_what_changed_is_announced_once_a_slider_rests(page: Page) -> None:
    """In every view, each time, and nothing before; the slider's own number is said by the slider alone."""
    twice = []  # the views that said two things
    for one in widgets_of(page):
        widget(page, one.name)
        status = one.place.get_by_role("status")
        assert status.inner_text() == "", f"{one.name} speaks before anything has changed"
        heard, old = [], one.place.locator(".widget-row :is(input, select)").first
        for keys in (["ArrowDown", "ArrowDown", "ArrowUp"], ["ArrowUp", "ArrowUp", "ArrowDown"]):
            for key in keys:
                old.press(key)
                one.wait_for_data()
            heard.append(one.script.call("scene", one.check())["said"])
            page.wait_for_function(
                "([status, said]) => status.textContent === said", arg=[status.element_handle(), heard[-1]]
            )
        twice += [one.name] * (len({*heard}) == 2)
        assert one.place.locator("[aria-live], [role=status], [role=alert], output").count() == 1
    assert len(twice) >= 3, twice


def test_everything_is_reached_by_tab_alone_and_shows_it(page: Page) -> None:
    wanted = page.locator(".widget :is(input:not([type=radio]), select, button)").count()
    groups = page.locator(".widget form:has([type=radio])").count()
    script = """() => {
      const at = document.activeElement;
      if (!at.closest(".widget")) return null;
      const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(at);
      const draw = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      draw.fillStyle = getComputedStyle(document.body).backgroundColor;
      draw.fillRect(0, 0, 1, 1);
      draw.fillStyle = outlineColor;
      draw.fillRect(1, 0, 1, 1);
      const colours = [...draw.getImageData(0, 0, 2, 1).data];
      const name = [...document.querySelectorAll(".widget *")].indexOf(at);
      return [name, at.outerHTML, outlineStyle, parseFloat(outlineWidth), colours];
    }"""
    seen = {}
    page.locator("article h1").click()
    for _ in range(3 * (wanted + groups) + 60):
        page.keyboard.press("Tab")
        if found := page.evaluate(script):
            seen[found[0]] = found[1:]
    assert len(seen) == wanted + groups
    for html, style, width, colours in seen.values():
        ground, outline = luminance(np.array([colours[:3], colours[4:7]]) / 255)
        assert style == "solid" and width >= 2 and contrast(outline, ground) >= 3, html


@pytest.mark.parametrize("colours", ["none", "active"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_mark_is_painted_unlike_its_ground(browser: Browser, gallery: str, scheme: str, colours: str) -> None:
    """In the book's colours and in the system's; WCAG asks for a contrast of 3, but for what is greyed on purpose."""
    with closed_network(browser, [], color_scheme=scheme, forced_colors=colours) as context:
        page = open_page(context, gallery)
        for one in widgets_of(page):
            widget(page, one.name)
            assert weakest_mark(one.place)[0] >= 3, (one.name, weakest_mark(one.place))
            if one.name == "shapes":
                one.place.get_by_role("checkbox").check()
                assert weakest_mark(one.place)[0] >= 3, "the dashed outline of a view"


BEYOND_THE_LINE = """(arrow) => {
  const [up, { left, right, top, bottom }] = [arrow.matches(".lmhead-up"), arrow.getBoundingClientRect()];
  return [1, 5].map((behind) => {  // pixels from the tip, 1 beside the line
    const x = up ? right - behind : left + behind;
    return [top - 1, bottom + 1].map((y) => document.elementFromPoint(x, y) === arrow);
  });
}"""


def test_the_head_of_a_push_is_pointed_where_it_goes(page: Page) -> None:
    ways = set()
    for arrow in widget(page, "gradient_step").place.locator(".lmhead-bar b").all():
        arrow.scroll_into_view_if_needed()
        assert arrow.evaluate(BEYOND_THE_LINE) == [[False, False], [True, True]], "narrow at its tip, wide behind it"
        ways.add(arrow.get_attribute("class"))
    assert ways == {"lmhead-up", "lmhead-down"}


# ---- late data, failures, no scripts, in print


def test_large_data_come_when_they_are_near_and_asked_for(browser: Browser, gallery: str) -> None:
    troubles: list[str] = []
    with closed_network(browser, troubles, viewport={"width": 1280, "height": 300}) as context:
        loaded: list[str] = []
        context.on("request", lambda request: loaded.append(request.url) if "widget_data" in request.url else None)
        page = context.new_page()
        page.goto(gallery)
        page.wait_for_selector(".widget-view", state="attached")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        place = page.locator("div.widget").nth(1)
        one = widget(page, "prompts")
        assert len(loaded) == 1, "one prompt's bytes"
        one.place.locator("select").select_option(index=3)
        one.wait_for_data()
        one.check()
        assert len(loaded) == 2
        assert place.locator("table").count() == 1, "the stand-in has gone"
    assert troubles == [], "\n".join(troubles)


def test_lost_data_leave_the_first_state_and_say_so(browser: Browser, gallery: str) -> None:
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        context.route("**/widget_data/*", lambda route: route.abort())
        page = context.new_page()
        page.goto(gallery)
        place = page.locator("div.widget").nth(1)
        place.scroll_into_view_if_needed()
        assert "could not be loaded" in place.get_by_role("alert").inner_text()
        assert "0.0713" in place.locator("table").inner_text()
        assert page.locator("div.widget").nth(2).locator("svg").count() == 1, "the others are drawn"
    assert troubles


def test_a_view_that_fails_says_so_in_its_place(browser: Browser, gallery: str) -> None:
    with closed_network(browser, []) as context:

        def spoil(route) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, body=answer.text().replace("function drawnSides(", "function gone("))

        context.route("**/page.html", spoil)
        page = open_page(context, gallery)
        alert = page.locator(".widget-failed")
        assert alert.count() == 1 and "drawnSides" in alert.inner_text()
        failed = page.locator("div.widget:has(.widget-failed)")
        assert "51,200,000" in failed.locator("table").inner_text()
        assert page.locator(".widget-view").count() == len(VIEWS) - 1


def test_without_scripts_tables_stand_in(browser: Browser, gallery: str) -> None:
    with closed_network(browser, [], java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(gallery)
        places = page.locator("div.widget")
        assert places.count() == len(VIEWS)
        for at, name in enumerate(VIEWS):
            if name != "quiz":
                assert places.nth(at).locator("table").first.is_visible(), name
        quiz = places.nth(list(VIEWS).index("quiz"))
        assert "(5, 100000)" in quiz.inner_text() and "transposed" not in quiz.inner_text()
        quiz.locator("summary").first.click()
        assert "transposed" in quiz.inner_text()
        assert not page.locator("div.widget input").count()


def test_in_print_the_figures_stay_and_the_controls_go(page: Page) -> None:
    page.emulate_media(media="print")
    assert page.locator(".widget input[type=range]:visible, .widget button:visible").count() == 0
    assert page.locator(".widget .widget-view:visible").count() >= len(VIEWS) - 1
    assert "temperature" in page.locator("div.widget").first.inner_text()
    assert page.evaluate(LEFT_BLANK) == []


LEFT_BLANK = """() => [...document.querySelectorAll(".widget-view, .widget-view *")].filter((one) => {
  const { backgroundColor, backgroundImage, printColorAdjust, webkitPrintColorAdjust } = getComputedStyle(one);
  const ground = backgroundImage !== "none" || !/(, |\\/ )0\\)$/.test(backgroundColor);
  const behind = ["::before", "::after"].some((part) => getComputedStyle(one, part).content !== "none");
  return (ground || behind) && (printColorAdjust ?? webkitPrintColorAdjust) !== "exact";
}).map((one) => one.outerHTML)"""


def test_reduced_motion_is_respected(browser: Browser, gallery: str) -> None:
    duration = "getComputedStyle(document.querySelector('.lmhead-bar i')).transitionDuration"
    for motion, expected in (("reduce", "0s"), ("no-preference", "0.12s, 0.12s")):
        with closed_network(browser, [], reduced_motion=motion) as context:
            assert open_page(context, gallery).evaluate(duration) == expected


def test_nothing_beyond_the_loopback_is_reached(browser: Browser, tmp_path: Path) -> None:
    """Other tests rely on it: what a page asks for elsewhere gets no answer, and is noted."""
    (tmp_path / "page.html").write_text("<img src='http://192.0.2.1/a.png'><img src='https://example.org/b.png'>")
    troubles: list[str] = []
    with closed_network(browser, troubles) as context, served(tmp_path) as address:
        page = context.new_page()
        page.goto(f"{address}/page.html")
        assert not page.evaluate("[...document.images].some((image) => image.naturalWidth)")
    for url in ("http://192.0.2.1/a.png", "https://example.org/b.png"):
        assert f"asked for {url}" in troubles and f"failed: {url}" in troubles
