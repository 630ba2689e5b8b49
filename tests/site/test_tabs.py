"""Tabs of other frameworks in a browser: with the keyboard, on other pages, without scripts, on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.live import closed_network, open_page, served

CHAPTERS = "06_cross_entropy_by_hand", "07_training_the_head"
# For each set: the names of its tabs, and whether what each holds is painted.
PAINTED = """() => [...document.querySelectorAll(".twins")].map((one) => Object.fromEntries(
  [...one.querySelectorAll(":scope > label")].map((label) =>
    [label.textContent.trim(), label.nextElementSibling.getBoundingClientRect().height > 50])))"""


@pytest.fixture(scope="module")
def pages(site: Path) -> Iterator[list[str]]:
    with served(site) as address:
        yield [f"{address}/book/{chapter}.html" for chapter in CHAPTERS]


def opened(page: Page) -> list[list[str]]:
    """The open tabs of each set."""
    return [[name for name, is_open in one.items() if is_open] for one in page.evaluate(PAINTED)]


def as_chosen(page: Page, name: str) -> list[list[str]]:
    """What should be open: the chosen framework wherever it is, elsewhere the first."""
    return [[name if name in one else next(iter(one))] for one in page.evaluate(PAINTED)]


def test_arrow_keys_choose_in_every_set_and_on_the_next_page(browser: Browser, pages: list[str]) -> None:
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        page = open_page(context, pages[0])
        assert opened(page) == as_chosen(page, "PyTorch")
        page.locator(".twins > input").first.focus()
        page.keyboard.press("ArrowRight")
        assert opened(page) == as_chosen(page, "JAX")
        label = page.locator(".twins > input:focus-visible + label")
        assert (label.text_content() or "").strip() == "JAX"
        assert label.evaluate("(label) => getComputedStyle(label).outlineStyle") == "solid"
        other = open_page(context, pages[1])
        assert opened(other) == as_chosen(other, "JAX")
        assert as_chosen(other, "JAX") != as_chosen(other, "PyTorch") and ["PyTorch"] in opened(other)
    assert troubles == []


def test_without_scripts_each_tab_opens(browser: Browser, pages: list[str]) -> None:
    with closed_network(browser, [], java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(pages[0])
        for name in ("JAX", "MLX", "PyTorch"):
            one = page.locator(".twins").first
            label = one.locator("label", has_text=name)
            label.click()
            shown = [content for content in one.locator(".sd-tab-content").all() if content.is_visible()]
            assert [content.get_attribute("id") for content in shown] == [label.get_attribute("aria-controls")]


def test_on_paper_all_are_printed_each_under_its_name(browser: Browser, pages: list[str]) -> None:
    tops = """() => [...document.querySelectorAll(".twins > label")].map((label) =>
      [label.getBoundingClientRect().bottom, label.nextElementSibling.getBoundingClientRect().top])"""
    with closed_network(browser, []) as context:
        for address in pages:
            page = open_page(context, address)
            page.emulate_media(media="print")
            assert all(all(one.values()) for one in page.evaluate(PAINTED))
            assert all(-2 <= content - label < 20 for label, content in page.evaluate(tops))


def test_each_set_says_what_it_is_and_the_page_with_which_versions(browser: Browser, pages: list[str]) -> None:
    with closed_network(browser, []) as context:
        page = open_page(context, pages[0])
        sets = page.locator(".twins").count()
        assert page.get_by_role("group", name="In your framework").count() == sets > 3
        first = page.get_by_role("group", name="In your framework").first
        assert all(first.get_by_role("radio", name=name).count() == 1 for name in ("PyTorch", "JAX", "MLX"))
        assert page.locator(".twins-versions").count() == 1
