"""What is live on the book's own pages: every view in its first and in another state, every reply to a quick check.

The pages are opened from disk, where a browser allows least. What each control does: `test_browser.py`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from lmhead import quiz
from tests.support.live import closed_network, open_page, stored_state, widgets_of
from tools.chapters import CHAPTERS


@pytest.fixture(scope="module")
def disk(browser: Browser) -> Iterator[tuple[BrowserContext, list[str]]]:
    """A browser that reaches nothing, and what went wrong in it."""
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        yield context, troubles


@pytest.fixture(scope="module", params=CHAPTERS)
def page(request: pytest.FixtureRequest, site: Path, disk: tuple[BrowserContext, list[str]]) -> Iterator[Page]:
    """A chapter's page, opened as a file; nothing may go wrong in it."""
    context, troubles = disk
    opened = open_page(context, (site / f"book/{request.param}.html").as_uri())
    yield opened
    opened.close()
    assert troubles == [], "\n".join(troubles)


def test_every_view_tells_the_truth(page: Page) -> None:
    """As it is stored, and at the other end of every control."""
    assert page.locator(".widget-failed").count() == 0
    views = widgets_of(page)
    for one in views:
        one.place.scroll_into_view_if_needed()
        one.place.locator(".widget-view").wait_for(state="visible")
        one.check()
        for slider in one.sliders():
            before = slider.input_value()
            slider.press("End")
            if slider.input_value() == before:
                slider.press("Home")
            assert slider.input_value() != before, (one.name, before)
        for menu in one.place.locator("select").all():
            menu.select_option(index=menu.locator("option").count() - 1)
            one.wait_for_data()
        for box in one.place.locator("input[type=checkbox]").all():
            box.press("Space")
        if one.sliders():
            one.check()


def test_every_quick_check_answers_every_reply(page: Page) -> None:
    models = stored_state(page).get("state", {}).values()
    quizzes = [model["state"] for model in models if model["state"].get("view") == "quiz"]
    by_text = {marked_up(question["question"]): question for quiz in quizzes for question in quiz["questions"]}
    forms = page.locator(".lmhead-quiz form").all()
    assert len(forms) == len(by_text) >= 5
    for form in forms:
        legend = html.unescape(form.locator("legend").inner_html())
        answer_all(form, by_text[legend.removeprefix(f"{quiz.WORDS['question']}. ")])
    assert page.evaluate(REPEATED) == []


REPEATED = """() => [...document.querySelectorAll(".lmhead [id]")].map(({ id }) => id)
  .filter((id) => document.querySelectorAll(`#${id}`).length > 1)"""


def marked_up(text: str) -> str:
    """The elements of a text: code without its backticks, emphasis without its stars."""
    return html.unescape(quiz._marked_up(text))


def answer_all(form: Locator, question: dict[str, Any]) -> None:
    """Give every reply, and compare what is said to it."""
    form.get_by_role("button").press("Enter")
    said = form.locator("[aria-live=polite]")
    assert said.inner_text() == quiz.WORDS["empty"] and said.get_attribute("class") == "lmhead-answer"
    if question["kind"] == "choice":
        labels = form.locator("label span").evaluate_all("(labels) => labels.map((one) => one.innerHTML)")
        assert [html.unescape(label) for label in labels] == [marked_up(text) for text in question["answers"]]
        expected = dict(enumerate(question["messages"])) | {question["right"]: None}
    else:
        assert form.locator("label").inner_text().split() == [quiz.WORDS["answer"], *question["unit"].split()]
        right, almost = question["answer"], 0.9 * question["tolerance"]
        expected = {wrong["value"]: wrong["message"] for wrong in question["wrong"]}
        expected |= {123456789.0: question["otherwise"], right: None, right + almost: None, right - almost: None}
        expected = {repr(reply): message for reply, message in expected.items()}
    for (kind, text), message in zip(form.evaluate(GIVE_EACH, list(expected)), expected.values(), strict=True):
        assert kind.split() == ["lmhead-answer", "lmhead-right" if message is None else "lmhead-wrong"]
        when_right = quiz.WORDS["right"] + (":" if question["because"] else ".")
        verdict, why = (when_right, question["because"]) if message is None else (quiz.WORDS["wrong"], message)
        assert html.unescape(text) == f"<strong>{verdict}</strong> {marked_up(why)}"


GIVE_EACH = """(form, replies) => replies.map((reply) => {
  const [first, ...others] = form.querySelectorAll("input");
  if (first.type === "radio") [first, ...others][reply].click();
  else {
    first.value = reply;
    first.dispatchEvent(new Event("input", { bubbles: true }));
  }
  form.querySelector("button").click();
  const said = form.querySelector("[aria-live=polite]");
  return [said.className, said.innerHTML];
})"""
