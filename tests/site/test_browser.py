"""Every page in a real browser with the network closed: every slider and every quick check tells the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from lmhead import cross_entropy, cross_entropy_grad, quiz
from lmhead.widgets import _overflow
from tests.support.gallery import VIEWS
from tests.support.live import Widget, closed_network, open_page, stored_state, widgets_of


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
    number.get_by_role("spinbutton").press_sequentially("2.0794")
    number.get_by_role("spinbutton").press("Enter")
    assert "These are nats" in number.locator(".lmhead-wrong").inner_text()


def test_the_views_draw_all_their_numbers(page: Page) -> None:
    counts = {one.name: len(widget(page, one.name).read()["numbers"]) for one in widgets_of(page)}
    assert counts == {
        "probabilities": 10,
        "prompts": 42,
        "directions": 9,
        "loss": 9,
        "gradient_step": 12,
        "overflow": 30,
        "shapes": 5,
        "head_cost": 7,
    }


def test_a_drawn_token_is_one_that_the_cuts_left(page: Page) -> None:
    one = widget(page, "probabilities")
    kept = {"0", "1", "2"}  # p .6675, .2222, .1103: the third crosses 0.9
    tokens = []
    for _ in range(40):
        one.place.get_by_role("button").click()
        tokens.append(one.place.locator("[data-token]").get_attribute("data-token"))
    assert set(tokens) <= kept and len(set(tokens)) > 1
    counts = [int(text or 0) for text in one.place.locator("tbody td:last-child").all_inner_texts()]
    assert sum(counts) == 40 and counts[0] == tokens.count("0")


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


def test_overflow_shows_the_moment_when_each_format_breaks(page: Page) -> None:
    one = widget(page, "overflow")
    (slider,) = one.sliders()

    seen = set()
    for offset in (-800, -60, -15, 0, 8, 9, 86, 87, 707, 708):
        slider.fill(str(offset))
        numbers = _overflow.numbers(one.check())
        off = {
            name: np.abs(np.subtract(numbers[f"naive_{name}"], numbers["exact"])).max() for name in _overflow.FORMATS
        }
        broken = [name for name, error in off.items() if not error <= 1e-3]  # nan is broken
        assert one.place.locator(".lmhead-broken caption").all_inner_texts() == broken
        seen.add(len(broken))
    assert seen == {0, 1, 2, 3}


def test_no_setting_is_wider_than_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    for one in widgets_of(page):
        for key in ("Home", "End"):
            for slider in one.sliders():
                slider.press(key)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, (one.name, key)
    for box in page.locator(".widget input[type=checkbox]").all():
        box.press("Space")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_directions_disagree_in_the_first_state(page: Page) -> None:
    one = widget(page, "directions")
    numbers = one.check()
    assert one.place.locator(".lmhead-note").inner_text().startswith("highest logit: dog; best cosine: cat.")
    assert numbers["angle"] == 35


def test_a_change_is_announced_once_the_slider_rests(page: Page) -> None:
    one = widget(page, "loss")
    status = one.place.get_by_role("status")
    assert status.inner_text() == ""
    one.place.locator("select").select_option(index=2)
    page.wait_for_function("(said) => said.textContent", arg=status.element_handle())
    assert status.inner_text() == "p of fish 0.0986, loss 2.3170 nats"


def test_everything_is_reached_by_tab_alone(page: Page) -> None:
    wanted = page.locator(".widget :is(input:not([type=radio]), select, button)").count()
    groups = page.locator(".widget form:has([type=radio])").count()
    script = """() => {
      const at = document.activeElement;
      if (!at.closest(".widget")) return null;
      return [...document.querySelectorAll(".widget *")].indexOf(at);
    }"""
    seen = set()
    page.locator("article h1").click()
    for _ in range(3 * (wanted + groups) + 60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(script))
    assert len(seen - {None}) == wanted + groups


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
                assert places.nth(at).locator("table").is_visible(), name
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
