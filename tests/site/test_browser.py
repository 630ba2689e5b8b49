"""Every page in a real browser with the network closed: every slider and every quick check tells the truth."""

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
    stored_state,
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


# ---- every page


@pytest.mark.alone
def test_every_control_of_every_page_tells_the_truth(browser: Browser, addresses: list[str]) -> None:
    """Each slider moved by keyboard and by mouse, each menu and check box through all of its states."""
    troubles: list[str] = []
    moved = 0
    with closed_network(browser, troubles) as context:
        for address in addresses:
            page = open_page(context, address)
            for one in widgets_of(page):
                one.place.scroll_into_view_if_needed()
                one.place.locator(".widget-view").wait_for(state="visible")
                one.check()
                for slider in one.sliders():
                    move(one, slider)
                    moved += 1
                for menu in one.place.locator("select").all():
                    for option in range(menu.locator("option").count()):
                        menu.select_option(index=option)
                        wait_for_late_data(page, one)
                        one.check()
                for box in one.place.locator("input[type=checkbox]").all():
                    for key in ("Space", "Space"):
                        box.press(key)
                        one.check()
            page.close()
    assert troubles == [], "\n".join(troubles)
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


def wait_for_late_data(page: Page, one: Widget) -> None:
    if one.tails:
        prompt = one.place.locator("select").evaluate("(select) => select.selectedIndex")
        page.wait_for_function("(key) => window.widgetData?.[key]", arg=one.tails[f"tail_{prompt}"]["file"])


@pytest.mark.alone
def test_every_quick_check_answers_every_reply(browser: Browser, addresses: list[str]) -> None:
    troubles: list[str] = []
    asked = 0
    with closed_network(browser, troubles) as context:
        for address in addresses:
            page = open_page(context, address)
            models = stored_state(page).get("state", {}).values()
            quizzes = [model["state"] for model in models if model["state"].get("view") == "quiz"]
            questions = [question for quiz in quizzes for question in quiz["questions"]]
            forms = page.locator(".lmhead-quiz form").all()
            assert len(forms) == len(questions)
            by_text = {plain(question["question"]): question for question in questions}
            for form in forms:
                legend = form.locator("legend").inner_text().partition(". ")[2]
                answer_all(form, by_text[plain(legend)])
                asked += 1
            page.close()
    assert troubles == [], "\n".join(troubles)
    assert asked >= 2


def plain(text: str) -> str:
    return " ".join(re.sub(r"[`*]", "", text).split())


def answer_all(form, question) -> None:
    """Give every reply, and compare what is said to it."""
    form.get_by_role("button").press("Enter")
    said = form.locator("[aria-live=polite]")
    assert said.inner_text() == quiz.WORDS["empty"] and said.get_attribute("class") == "lmhead-answer"
    labels = [plain(text) for text in form.locator("label").all_inner_texts()]
    if question["kind"] == "choice":
        assert labels == [plain(text) for text in question["answers"]]
        expected = dict(enumerate(question["messages"])) | {question["right"]: None}
    else:
        assert labels == [plain(f"{quiz.WORDS['answer']} {question['unit']}")]
        right, almost = question["answer"], 0.9 * question["tolerance"]
        expected = {wrong["value"]: wrong["message"] for wrong in question["wrong"]}
        expected |= {123456789.0: question["otherwise"], right: None, right + almost: None, right - almost: None}
        expected = {repr(reply): message for reply, message in expected.items()}
    for (kind, text), message in zip(form.evaluate(GIVE_EACH, list(expected)), expected.values(), strict=True):
        assert kind.split() == ["lmhead-answer", "lmhead-right" if message is None else "lmhead-wrong"]
        opening = quiz.WORDS["right" if message is None else "wrong"]
        assert plain(text) == plain(f"{opening} {question['because'] if message is None else message}")


GIVE_EACH = """(form, replies) => replies.map((reply) => {
  const [first, ...others] = form.querySelectorAll("input");
  if (first.type === "radio") [first, ...others][reply].click();
  else {
    first.value = reply;
    first.dispatchEvent(new Event("input", { bubbles: true }));
  }
  form.querySelector("button").click();
  const said = form.querySelector("[aria-live=polite]");
  return [said.className, said.innerText];
})"""


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


def test_no_setting_is_wider_than_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 900})
    for one in widgets_of(page):
        for key in ("Home", "End"):
            for slider in one.sliders():
                slider.press(key)
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, (one.name, key)
    for box in page.locator(".widget input[type=checkbox]").all():
        box.press("Space")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_what_changed_is_announced_once_a_slider_rests(page: Page) -> None:
    """In every view, and nothing before; the slider's own number is said by the slider alone."""
    for one in widgets_of(page):
        widget(page, one.name)
        status = one.place.get_by_role("status")
        assert status.inner_text() == "", f"{one.name} speaks before anything has changed"
        said, old = [], one.place.locator(".widget-row :is(input, select)").first
        for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
            old.press(key)
            wait_for_late_data(page, one)
            said.append(one.script.call("scene", one.check())["said"])
        page.wait_for_function(
            "([status, said]) => status.textContent === said", arg=[status.element_handle(), said[-1]]
        )
        assert one.place.locator("[aria-live], [role=status], [role=alert], output").count() == 1


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


# ---- late data, failures, no scripts, from disk, in print


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
        wait_for_late_data(page, one)
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


def test_from_disk(browser: Browser, site: Path, addresses: list[str]) -> None:
    """A page opened as a file does all that it does from a server."""
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        for file in sorted((site / "book").glob("*.html")):
            page = open_page(context, file.as_uri())
            assert page.locator(".widget-failed").count() == 0
            for one in widgets_of(page):
                one.place.scroll_into_view_if_needed()
                one.place.locator(".widget-view").wait_for(state="visible")
                one.check()
                one.sliders()[0].press("End")
                one.check()
            page.close()
    assert troubles == [], "\n".join(troubles)


def test_in_print_the_figures_stay_and_the_controls_go(page: Page) -> None:
    page.emulate_media(media="print")
    assert page.locator(".widget input[type=range]:visible, .widget button:visible").count() == 0
    assert page.locator(".widget .widget-view:visible").count() >= len(VIEWS) - 1
    assert "temperature" in page.locator("div.widget").first.inner_text()


def test_reduced_motion_is_respected(browser: Browser, gallery: str) -> None:
    duration = "getComputedStyle(document.querySelector('.lmhead-bar i')).transitionDuration"
    for motion, expected in (("reduce", "0s"), ("no-preference", "0.12s, 0.12s")):
        with closed_network(browser, [], reduced_motion=motion) as context:
            assert open_page(context, gallery).evaluate(duration) == expected
