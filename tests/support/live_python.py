"""Cells of a built page that are run in the browser's own Python, as a reader runs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.live import closed_network, open_page, served

PATIENCE = 120_000  # milliseconds for a cell on a busy machine

ENDED = "^Run here|^Not run|^Stopped|did not run"  # what is said of a cell at the end of a run

# What each cell of the page shows, in words, and which pictures. Of a widget: what it says where no script runs.
SAID = """() => [...document.querySelectorAll("div.cell")].map((cell) => {
  const text = (one) => one.matches("noscript")
    ? new DOMParser().parseFromString(one.textContent, "text/html").body.textContent : one.textContent;
  const output = cell.querySelector(".cell_output");
  const parts = [...output?.querySelectorAll("noscript, pre, .text_html") ?? []].map((one) => text(one).trim());
  return [...parts, ...[...output?.querySelectorAll("figure img") ?? []].map((image) => `picture: ${image.alt}`)];
})"""


@contextmanager
def chapter(browser: Browser, site: Path, name: str, troubles: list[str], **options: object) -> Iterator[Page]:
    """A page of the book, served, with the network closed."""
    with served(site) as address, closed_network(browser, troubles, **options) as context:
        context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield open_page(context, f"{address}/book/{name}.html")


def cell_with(page: Page, code: str, *, first: bool = False) -> Locator:
    """The one cell, or the first, whose code, as the book has it, holds this text."""
    cells = page.locator("div.cell")
    texts = cells.evaluate_all(
        "(all) => all.map((cell) => cell.querySelector('.cell_input > div pre')?.textContent ?? '')"
    )
    found = [at for at, text in enumerate(texts) if code in text]
    assert found and (first or len(found) == 1), f"{len(found)} cells hold {code!r}"
    return cells.nth(found[0])


def press(cell: Locator, name: str) -> None:
    """Press a button of a cell, as a mouse does: it is seen while the cell is pointed at."""
    cell.hover()
    cell.get_by_role("button", name=name, exact=True).click()


def status(cell: Locator) -> str:
    """What is said beside the cell."""
    return cell.locator(".python-status").inner_text()


def wait_until_said(cell: Locator, words: str) -> str:
    """Wait until the line beside the cell holds this; gives the line."""
    cell.locator(".python-status", has_text=re.compile(words)).wait_for()
    return status(cell)


def run(cell: Locator) -> str:
    """Run a cell, and wait for its end; gives the text of its output."""
    press(cell, "Run")
    line = wait_until_said(cell, ENDED)
    assert line.startswith("Run here"), line
    return output(cell)


def output(cell: Locator) -> str:
    """The text below a cell."""
    place = cell.locator(".cell_output")
    return place.inner_text().strip() if place.count() else ""


def write(cell: Locator, code: str) -> None:
    """Open the editor of a cell, if it is not open, and put this code into it."""
    if not cell.locator("textarea").count():
        press(cell, "Edit")
    cell.locator("textarea").fill(code)
