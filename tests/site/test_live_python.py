"""Python on the page, as a reader meets it: cells run, changed and stopped in Chromium, the network closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from lmhead import softmax
from tests.support.live_python import (
    SAID,
    cell_with,
    chapter,
    output,
    press,
    run,
    status,
    wait_until_said,
    write,
)
from tools.chapters import CHAPTERS

IN_EVERY_RUN = ("06_cross_entropy_by_hand",)  # and all by `make live`
SIX = "06_cross_entropy_by_hand"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "every_cell_of" in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-chapter")
        metafunc.parametrize("every_cell_of", [*CHAPTERS, "conclusions"] if every else IN_EVERY_RUN)


@pytest.mark.alone
def test_every_cell_says_on_the_page_what_the_book_says(browser: Browser, site: Path, every_cell_of: str) -> None:
    troubles: list[str] = []
    with chapter(browser, site, every_cell_of, troubles) as page:
        stored = page.evaluate(SAID)
        first = page.locator("div.cell:has(button)").first
        press(first, "Run all")
        wait_until_said(first, "^All|^Stopped|did not run")
        count = int(re.fullmatch(r"All (\d+) cells have run", status(first))[1])
        assert count >= len([said for said in stored if said])
        assert page.locator(".python-own").count() >= 10
        assert page.evaluate(SAID) == stored
    assert troubles == [], "\n".join(troubles)


# ---- one chapter, open through all the tests below


@pytest.fixture(scope="module")
def page_of_six(browser: Browser, site: Path) -> Iterator[Page]:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        yield page
    assert troubles == [], "\n".join(troubles)


@pytest.fixture
def six(page_of_six: Page) -> Iterator[Page]:
    """The chapter as the book has it, and Python as the test before has left it."""
    yield page_of_six
    page_of_six.evaluate(
        "() => document.querySelectorAll('.python-bar').forEach((bar) => "
        "[...bar.querySelectorAll('button')].find((one) => one.textContent === 'Restore')?.click())"
    )


def test_nothing_of_python_is_loaded_before_the_first_click(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    asked: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.context.on("request", lambda request: asked.append(request.url))
        page.reload(wait_until="networkidle")
        assert any("buttons.js" in url for url in asked)
        assert [url for url in asked if "/python/" in url] == []
    assert troubles == []


def test_run_runs_what_comes_before(six: Page) -> None:
    later = cell_with(six, "fish costs")
    stored = output(later)
    assert run(later) == stored and "as in the book" in status(later)
    assert cell_with(six, "import numpy as np").locator(".python-own").count() == 0


def test_a_changed_cell_shows_what_its_code_gives(six: Page) -> None:
    cell = cell_with(six, "exponentials = np.exp(z)")
    stored = output(cell)
    write(cell, "p = softmax(z * 10)\np.round(5)")
    cell.locator("textarea").press("Control+Enter")
    wait_until_said(cell, "your code")
    assert output(cell) == str(
        np.array2string(softmax(np.array([20.0, 10.0, 1.0])).round(5), separator=", ").join(["array(", ")"])
    )
    press(cell, "Restore")
    assert output(cell) == stored and cell.locator("textarea").count() == 0
