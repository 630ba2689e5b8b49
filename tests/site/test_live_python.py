"""Python on the page, as a reader meets it: cells run, changed and stopped in Chromium, the network closed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lmhead import cross_entropy, softmax
from tests.support.accessible import axe
from tests.support.firefox import Firefox, find_firefox, firefox
from tests.support.live import missing, served
from tests.support.live_python import (
    ENDED,
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

# In every run, with chapter 6 below, and chapter 2 in Firefox: texts, errors, figures, widgets, quick checks, and files
# that are written and read. All of them, and so the longest cells: `make live`, and once a week.
IN_EVERY_RUN = ("04_weight_tying",)
DIFFERS = {"13_the_head_at_scale": ["times the logits, by chunks"]}  # words of such a cell; book/checks.md says why
MOST_FREE = {"12_a_real_head": 1}  # how many cells of a page run at least, where most of them need the real model
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
        run_all(page)
        assert page.locator(".python-own").count() >= MOST_FREE.get(every_cell_of, 10)
        differ = [pair for pair in zip(stored, page.evaluate(SAID), strict=True) if pair[0] != pair[1]]
        known = DIFFERS.get(every_cell_of, ())
        assert [pair for pair in differ if not any(words in str(pair) for words in known)] == []
        assert len(differ) == len(known), (
            "a cell of the list no longer differs: take it out, here and in book/checks.md"
        )
    assert troubles == [], "\n".join(troubles)


def run_all(page: Page) -> None:
    first = page.locator("div.cell:has(.python-bar):not(.tag_hide-input, .needs-model)").first  # seen, and run here
    press(first, "Run all")
    while not re.match("All|Stopped|Python did not", line := wait_until_said(first, "^(?!Waiting)")):
        first.locator(".python-status", has_not_text=line).wait_for()  # as long as one cell after the other goes on
    assert line.startswith("All"), line


SAID_BESIDE = "document.querySelector('.python-status').textContent"  # the first cell


def press_in(tab: Firefox, name: str) -> None:
    """Press a button of the first cell, and wait for the end of the run."""
    tab.evaluate(
        f"[...document.querySelectorAll('.python-bar button')].find((b) => b.textContent === '{name}').click()"
    )
    for _ in range(3):  # of a minute each
        with suppress(TimeoutError):
            return tab.wait_for(f"/^All|^Run here|^Stopped|^Not run|did not run/.test({SAID_BESIDE})")


@pytest.mark.browser
def test_firefox_runs_a_chapter(site: Path, tmp_path: Path) -> None:
    path = find_firefox()
    if path is None:
        missing("Firefox")
    with served(site) as address, firefox(path, tmp_path) as tab:
        tab.open(f"{address}/book/02_shapes_of_W_U.html")
        stored = tab.evaluate(f"({SAID})()")
        press_in(tab, "Run all")
        assert tab.evaluate(SAID_BESIDE).startswith("All") and tab.evaluate(f"({SAID})()") == stored
        tab.open(f"{address}/book/{SIX}.html")  # it begins with the memory that the first page has kept
        press_in(tab, "Run")
        assert tab.evaluate(SAID_BESIDE).startswith("Run here")
        assert len(tab.evaluate(f"({KEPT})()")) == 1
        assert tab.errors == []
        assert [url for url in tab.requests if not url.startswith((address, "blob:", "data:"))] == []


# ---- one chapter, open through all the tests below


@pytest.fixture(scope="module")
def page_of_six(browser: Browser, site: Path) -> Iterator[Page]:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.evaluate(f"() => {{ window.asInTheBook = ({SAID})(); }}")
        yield page
    assert troubles == [], "\n".join(troubles)


AS_IT_WAS = """() => ["Stop", "Restore"].forEach((name) => document.querySelectorAll(".python-bar button").forEach(
  (one) => one.textContent === name && one.click()))"""


@pytest.fixture
def six(page_of_six: Page) -> Iterator[Page]:
    """The chapter as the book has it, and Python as the test before has left it."""
    page_of_six.emulate_media(color_scheme="light")
    yield page_of_six
    page_of_six.evaluate(AS_IT_WAS)


@pytest.fixture
def cell(six: Page) -> Locator:
    """A cell early in the chapter."""
    return cell_with(six, "exponentials = np.exp(z)")


def run_code(cell: Locator, code: str) -> str:
    """What a cell shows after this code was typed into it and run by keys."""
    write(cell, code)
    cell.locator("textarea").press("Control+Enter")
    line = wait_until_said(cell, ENDED)
    assert line.startswith("Run here") and "your code" in line, line
    return output(cell)


def test_nothing_of_python_is_loaded_before_the_first_click(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    asked: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.context.on("request", lambda request: asked.append(request.url))
        page.reload(wait_until="networkidle")
        assert any("buttons.js" in url for url in asked)
        assert [url for url in asked if "/python/" in url] == []
        lines = page.locator(".python-status")
        assert page.locator(".python-status[role=status]").count() == lines.count() > 10  # what they say is announced
        press(cell_with(page, "import numpy as np"), "Edit")
        page.locator("textarea").wait_for()
        assert [url for url in asked if ".data" in url] == []  # an editor needs no Python
    assert troubles == []


def test_run_runs_what_comes_before(six: Page) -> None:
    later = cell_with(six, "fish costs")
    stored = output(later)
    assert run(later) == stored and "as in the book" in status(later)
    assert later.locator(".python-own").count() == 1
    assert cell_with(six, "widgets.loss(z, words)").locator(".python-own").count() == 0  # further down


def test_all_cells_say_what_the_book_says_and_quick_checks_and_sliders_stay(six: Page) -> None:
    form = six.locator(".lmhead-quiz form").first
    reply = form.locator("input").first
    reply.check() if reply.get_attribute("type") == "radio" else reply.fill("1")
    form.get_by_role("button").first.click()
    said = form.locator("[aria-live=polite]").inner_text()
    assert said.startswith(("Right", "Not quite"))
    slider = six.locator(".cell_output input[type=range]").first
    slider.press("End")
    stands = slider.input_value()
    run_all(six)
    assert six.evaluate(SAID) == six.evaluate("window.asInTheBook") and six.locator(".python-own").count() >= 10
    assert form.locator("[aria-live=polite]").inner_text() == said and slider.input_value() == stands


def test_a_changed_cell_shows_what_its_code_gives_and_is_restored(cell: Locator) -> None:
    code, stored = cell.locator(".cell_input > div pre").first.inner_text(), output(cell)
    assert run_code(cell, "softmax(z * 10).round(5).tolist()") == str(softmax([20.0, 10.0, 1.0]).round(5).tolist())
    cell.get_by_role("button", name="Restore", exact=True).press("Enter")
    assert output(cell) == stored and cell.locator("textarea").count() == 0
    assert cell.page.evaluate("document.activeElement.textContent") == "Run"  # Restore is gone; it was beside it
    assert cell.locator(".cell_input > div pre").first.inner_text() == code
    assert cell.locator("button", has_text="Restore").count() == 0


def test_a_later_cell_sees_what_was_changed_before(six: Page, cell: Locator) -> None:
    later = cell_with(six, "fish costs")
    stored = output(later)
    write(cell, "z = z * 0\np = softmax(z)")
    press(later, "Run")
    wait_until_said(later, "^Run here$")
    assert "0.69315" not in stored and output(later) != stored
    widget = cell_with(six, "widgets.loss(z, words)")  # the book's own, whose code nobody has changed
    press(widget, "Run")
    wait_until_said(widget, "^Run here$")
    expect(widget.locator(".widget-view")).to_contain_text("1.0986")  # log 3
    press(cell, "Restore")
    wait = cell_with(six, "import numpy as np")
    run(wait)
    press(later, "Run")
    wait_until_said(later, "as in the book")
    assert output(later) == stored


EDITS = {  # what a student types -> what must be seen
    "1 + 1": "2",
    "print('a'); print('b')": "a\nb",
    "x = 3": "",
    "x": "3",
    "_ + 1": "4",
    "z.shape, z.dtype": "(3,), dtype('float64')",
    "int(np.argmax(z))": "0",
    "cross_entropy(z, 2).round(4)": str(cross_entropy([2.0, 1.0, 0.1], 2).round(4)),
    "from lmhead import greedy\ngreedy(z).dtype": "int64",
    "for i in range(3):\n    print(i, end=' ')": "0 1 2",
    "softmax(z": "SyntaxError: '(' was never closed (line 1)",
    "softmax(zz)": "NameError: name 'zz' is not defined (line 1)",
    "\ncross_entropy(z, 3)": "IndexError: the target is 3; token ids go from 0 to 2, and ignore_index is -100 (line 2)",
    "if True:\nprint(1)": "IndentationError",
    "%timeit 1": "% and ! are commands of JupyterLab",
    "import pandas": "ModuleNotFoundError: No module named 'pandas'. The Python of this page has",
    "input('?')": "a page cannot ask",
    "import warnings; warnings.warn('careful')": "UserWarning: careful",
    "import sys; print('to the left', file=sys.stderr)": "to the left",
    "from IPython.display import HTML, display\ndisplay(HTML('<b>bold</b>'))\n7;": "bold",
    "class A:\n    def __repr__(self): return 'an A'\nA()": "an A",
    "raise SystemExit": "SystemExit",
    "'ß → 𝛼 </script>'": "'ß → 𝛼 </script>'",
}


@pytest.mark.parametrize("code", EDITS)
def test_an_edit_is_answered(cell: Locator, code: str) -> None:
    seen = run_code(cell, code)
    assert (EDITS[code] in seen) if EDITS[code] else seen == ""
    assert cell.locator("textarea").input_value() == code


def test_a_long_run_says_its_seconds(cell: Locator) -> None:
    run_code(cell, "import time\ntime.sleep(2)")
    assert 2 <= int(re.match(r"Run here in (\d+) s", status(cell))[1]) < 15  # a busy machine adds some


def test_an_error_before_stops_the_run_and_says_where(six: Page, cell: Locator) -> None:
    later = cell_with(six, "fish costs")
    write(cell, "1 / 0")
    press(later, "Run")
    wait_until_said(later, "^Not run: a cell before it raised an error")
    assert "ZeroDivisionError: division by zero (line 1)" in cell.get_by_role("alert").inner_text()
    assert later.locator(".python-own").count() == 0
    press(later, "Run all")
    wait_until_said(later, r"^Stopped at cell \d+ of \d+, which raised an error")


def test_an_error_in_what_another_cell_defined_names_its_line_there(six: Page, cell: Locator) -> None:
    run_code(cell, "def fails():\n    x = 1\n    return x / 0")
    later = cell_with(six, "fish costs")
    write(later, "\n\n\n\nfails()")
    press(later, "Run")
    wait_until_said(later, ENDED)
    assert later.get_by_role("alert").inner_text().endswith("zero (line 3 of another cell)\n")


def test_what_a_failed_cell_has_begun_to_draw_is_not_shown_later(six: Page, cell: Locator) -> None:
    write(cell, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n1 / 0")
    press(cell, "Run")
    wait_until_said(cell, ENDED)
    assert run_code(cell, "1") == "1" and cell.locator(".cell_output img").count() == 0


def test_runs_that_are_asked_for_at_once_come_one_after_the_other(six: Page, cell: Locator) -> None:
    later = cell_with(six, "fish costs")
    write(cell, "import time\nprint('first')\ntime.sleep(1)\nprint('slow')")
    write(later, "print('quick')")
    press(cell, "Run")
    press(later, "Run")
    assert wait_until_said(later, ENDED).startswith("Run here")
    assert wait_until_said(cell, ENDED).startswith("Run here")
    assert (output(cell), output(later)) == ("first\nslow", "quick")


def test_edits_survive_a_reload_and_one_click_forgets_them(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.set_default_timeout(15_000)  # no Python is waited for
        cell = cell_with(page, "exponentials = np.exp(z)")
        write(cell, "p = 'mine'")
        page.reload()
        note = page.locator(".python-note")
        assert "You have changed 1 cell of this page. They are kept on this device alone." in note.inner_text()
        assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('06_cross'))"), "of this page"
        assert page.locator("textarea").input_value() == "p = 'mine'"
        note.get_by_role("button", name="Forget my edits").click()
        assert page.locator("textarea").count() == note.count() == 0
        page.reload(wait_until="networkidle")
        assert page.locator("textarea").count() == note.count() == 0
    assert troubles == []


def test_a_browser_that_keeps_nothing_says_so(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
        page.reload()
        write(cell_with(page, "exponentials = np.exp(z)"), "p = 'mine'")
        said = page.locator(".python-note").inner_text()
        assert "This browser keeps nothing: your edits are gone with the page." in said
    assert troubles == ["error: full"]  # the theme's, which notes light or dark


def test_a_script_that_does_not_come_is_asked_for_again(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        cell = cell_with(page, "exponentials = np.exp(z)")
        for script in ("**/cells/*", "**/parts/live_python.js*"):
            page.route(script, lambda route: route.abort(), times=1)
            press(cell, "Edit")
            wait_until_said(cell, "could not be loaded. Is there a network[?] Press again[.]")
        press(cell, "Edit")
        page.locator("textarea").wait_for()
    lost = [trouble for trouble in troubles if "ERR_FAILED" not in trouble]  # which the browser says of each
    assert [one.partition("?")[0].rpartition("/")[2] for one in lost] == [f"book-{SIX}.js", "live_python.js"]


# ---- what the next page saves

KEPT = """async () => {
  const kept = await caches.open("memory of Python");
  const sizes = (await kept.keys()).map(async (one) => (await (await kept.match(one)).arrayBuffer()).byteLength);
  return Promise.all(sizes);
}"""

DAMAGED = """async () => {
  const kept = await caches.open("memory of Python"), [address] = await kept.keys();
  for (const one of [address, "of-another-build"]) await kept.put(one, new Response(new Uint8Array(2e7)));
}"""

OWN = "import random\nhash('word'), random.random()"  # each Python draws its hashes when it starts


@pytest.fixture
def next_page(six: Page) -> Iterator[Page]:
    """Another chapter, in the same browser."""
    page = six.context.new_page()
    yield page
    page.close()


def test_the_next_page_goes_on_from_the_memory_of_the_first(six: Page, cell: Locator, next_page: Page) -> None:
    def own(cell: Locator) -> tuple[int, float]:
        seen = ast.literal_eval(run_code(cell, OWN))
        six.wait_for_function(f"async () => {{ const [one] = await ({KEPT})(); return one > 2e7; }}")
        return seen

    def own_of_next() -> tuple[int, float]:
        next_page.goto(six.url.replace(SIX, "07_training_the_head"))
        return own(cell_with(next_page, "import numpy as np", first=True))

    word, drawn = own(cell)
    assert six.evaluate(KEPT) == [pytest.approx(30 * 2**20, rel=0.1)]
    word_again, drawn_again = own_of_next()
    assert word_again == word and drawn_again != drawn
    six.evaluate(DAMAGED)
    assert own_of_next()[0] != word
    assert len(six.evaluate(KEPT)) == 1


# ---- figures, widgets, exercises


def test_a_changed_figure_is_drawn_with_its_own_words(six: Page) -> None:
    cell = cell_with(six, "plots.loss_curve(p, words)")
    run_code(
        cell,
        "from lmhead import plots\nax = plots.axes()\nax.plot([1, 2])\n"
        "ax.set(title='mine', xlabel='steps', ylabel='loss');",
    )
    image = cell.locator("img")
    assert image.get_attribute("alt") == "A figure drawn by this cell's code on this page: mine; loss against steps"
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300
    six.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert image.evaluate("(image) => getComputedStyle(image).backgroundColor") == "rgb(255, 255, 255)"
    six.evaluate("document.documentElement.dataset.theme = 'light'")


def test_a_figure_of_changed_numbers_is_not_said_to_be_the_book_s(six: Page, cell: Locator) -> None:
    figure = cell_with(six, "plots.loss_curve(p, words)")
    run(figure)
    assert "cat" in figure.locator("img").get_attribute("alt") and "as in the book" in status(figure)
    run_code(cell, "p = np.array([0.2, 0.3, 0.5])")
    press(figure, "Run")
    wait_until_said(figure, "^Run here[^:]*$")
    assert figure.locator("img").get_attribute("alt").startswith("A figure drawn by this cell's code on this page")
    assert figure.locator("figcaption").count() == 0


def test_a_changed_widget_is_live(six: Page) -> None:
    cell = cell_with(six, "widgets.loss(z, words)")
    run_code(cell, "from lmhead import widgets\nwidgets.loss(np.array([0.0, 3.0, 1.0]), ['sun', 'moon', 'star'])")
    menu, told = cell.locator("select"), cell.locator(".widget-view")
    expect(told).to_contain_text("moon")
    for target in (1, 2):
        menu.select_option(index=target)
        expect(told).to_contain_text(f"{cross_entropy([0.0, 3.0, 1.0], target):.4f}")


def test_a_widget_that_the_page_cannot_draw_says_so(cell: Locator) -> None:
    seen = run_code(cell, "import ipywidgets\nipywidgets.Text('a')")
    assert "Text" in seen and "cannot be drawn on the static page" in seen and "make lab" in seen


def test_an_exercise_is_judged(six: Page) -> None:
    cell = cell_with(six, "check.cross_entropy(my_cross_entropy)", first=True)
    right = "from lmhead import check\ndef mine(z, y):\n    return np.log(np.exp(z).sum()) - z[y]\n"
    right += "check.cross_entropy(mine)"
    assert run_code(cell, right).startswith("Right: all")
    assert "Right" not in run_code(cell, right.replace("np.log", "np.log2"))


# ---- by keys, for every eye, on a phone


def test_all_of_it_is_done_by_keys_alone(six: Page, cell: Locator) -> None:
    focused = six.locator(":focus")
    cell.locator(".copybtn, pre").first.evaluate("(one) => { one.tabIndex = 0; one.focus(); }")
    for _ in range(6):
        six.keyboard.press("Tab")
        if focused.inner_text() == "Run":
            break
    expect(cell.locator(".python-bar")).to_have_css("opacity", "1")
    six.keyboard.press("Enter")
    wait_until_said(cell, "^Run here")
    assert focused.inner_text() == "Run"
    six.keyboard.press("Tab")
    assert focused.inner_text() == "Edit"
    six.keyboard.press("Enter")
    area = cell.locator("textarea")
    expect(area).to_be_focused()
    six.keyboard.press("Control+a")
    six.keyboard.type("if z[0] > 1:\nprint('deep')")  # Enter after a colon indents
    assert area.input_value() == "if z[0] > 1:\n    print('deep')"
    six.keyboard.press("Enter")
    six.keyboard.press("Backspace")  # a whole step of indentation
    six.keyboard.type("print('out')")
    six.keyboard.press("Shift+Tab")
    six.keyboard.press("Tab")
    assert area.input_value().endswith("\n    print('out')") or area.input_value().endswith("\nprint('out')    ")
    six.keyboard.press("Control+z")
    six.keyboard.press("Control+Enter")
    wait_until_said(cell, "your code")
    assert output(cell) == "deep\nout"
    six.keyboard.press("Escape")
    assert focused.inner_text() == "Run"


def test_both_layers_of_the_editor_lie_on_each_other(six: Page, cell: Locator) -> None:
    write(cell, "a_long_line = " + "'wide' + " * 40 + "'a <b>&amp;</b>'\n" * 4)
    boxes = cell.locator(".python-editor > *").evaluate_all(
        "(both) => both.map((one) => one.getBoundingClientRect())"
        ".map(({ x, y, width, height }) => [x, y, width, height])"
    )
    assert boxes[0] == pytest.approx(boxes[1], abs=0.5) and boxes[0][3] > 60
    fonts = cell.locator(".python-editor > *").evaluate_all(
        "(both) => both.map((one) => ['fontFamily', 'fontSize', 'lineHeight', 'paddingLeft', 'letterSpacing']"
        ".map((name) => getComputedStyle(one)[name]))"
    )
    assert fonts[0] == fonts[1]
    coloured = cell.locator(".python-editor > pre")
    area = cell.locator("textarea")
    assert coloured.text_content() == area.input_value() + "\n"
    area.press("Control+Home")
    area.press("End")
    scrolled = area.evaluate("(one) => one.scrollLeft")
    assert scrolled > 50 and coloured.evaluate("(one) => one.scrollLeft") == scrolled


def test_code_in_the_editor_is_said_once(six: Page, cell: Locator) -> None:
    write(cell, "said_once")
    tree = six.context.new_cdp_session(six).send("Accessibility.getFullAXTree")["nodes"]
    roles = [n["role"]["value"] for n in tree if not n["ignored"] and n["name"]["value"].strip() == "said_once"]
    assert [role for role in roles if role != "InlineTextBox"] == ["StaticText"], "the field's own text"


def test_nothing_is_wider_than_a_phone(six: Page, cell: Locator) -> None:
    six.set_viewport_size({"width": 390, "height": 800})
    run_code(cell, "print('wide ' * 100)\n" + "z + " * 40 + "z")
    wide = six.evaluate("document.documentElement.scrollWidth")
    boxes = cell.locator(".python-bar, .python-bar button, .python-editor").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().right)"
    )
    six.set_viewport_size({"width": 1280, "height": 900})
    assert wide <= 390 and max(boxes) <= 390


def test_cells_that_run_are_accessible_and_an_endless_loop_is_stopped(six: Page, cell: Locator) -> None:
    run_code(cell, "# all kinds of words\nfor x in range(2):\n    print('text', x, None)\nundefined")
    busy = cell_with(six, "fish costs")
    write(busy, "while True: print('x' * 50)")
    press(busy, "Run")
    expect(busy.locator(".cell_output")).to_contain_text("prints at most 100,000 characters")
    assert "Running" in status(busy)
    found, context = [], {"include": [["div.cell:has(.python-used)"], [".python-note"]]}
    for theme in ("dark", "light"):
        six.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        found += axe(six, context, rules={"target-size": {"enabled": True}})
    press(busy, "Stop")
    said = wait_until_said(busy, "Stopped")
    assert said == "Stopped. The variables are gone: the next run begins with the first cell"
    press(cell, "Restore")
    assert run_code(busy, "words") == "['cat', 'dog', 'fish']"  # the cells before have run again
    assert found == []


def test_the_buttons_are_unseen_until_a_cell_is_pointed_at_focused_or_touched(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles, has_touch=True) as page:
        cell = cell_with(page, "exponentials = np.exp(z)")
        bar = cell.locator(".python-bar")
        before = page.evaluate("document.body.scrollHeight")
        expect(bar).to_have_css("opacity", "0")
        bar.get_by_role("button").first.focus()
        expect(bar).to_have_css("opacity", "1")
        page.evaluate("document.activeElement.blur()")
        expect(bar).to_have_css("opacity", "0")
        cell.locator("pre").first.tap()
        expect(bar).to_have_css("opacity", "1")
        assert page.evaluate("document.body.scrollHeight") == before  # nothing moves
    assert troubles == []


# ---- where there is no server, and what no page can do


def test_from_a_folder(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.goto((site / f"book/{SIX}.html").as_uri())
        cell = cell_with(page, "exponentials = np.exp(z)")
        stored = output(cell)
        assert run(cell) == stored
        figure = cell_with(page, "plots.loss_curve(p, words)")
        run(figure)
        assert figure.locator("img").get_attribute("src").startswith("data:image/svg+xml")
    assert troubles == [], "\n".join(troubles)


def test_cells_that_ask_the_real_model_say_what_to_do(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    (name,) = [name for name in CHAPTERS if name.endswith("a_real_head")]
    with chapter(browser, site, name, troubles) as page:
        cell = cell_with(page, "load_model()")
        cell.hover()
        bar = cell.locator(".python-bar")
        assert (
            bar.inner_text()
            == "The real model is too large for a page: run this cell with make lab, or from course.zip"
        )
        assert bar.locator("button").count() == 0
        with page.expect_download() as archive:
            bar.get_by_role("link", name="course.zip").click()
        assert archive.value.suggested_filename == "course.zip"
        free = page.locator("div.cell:not(.needs-model):has(.python-bar)").all()  # those that need no model do run
        exercises = ["def my_bits_per_byte(", "def my_shares("]
        assert [name in one.inner_text() for one, name in zip(free, exercises, strict=True)] == [True, True]
        assert all(one.get_by_role("button", name="Run all").count() == 1 for one in free)
    assert [trouble for trouble in troubles if "course.zip" not in trouble] == []


def test_a_part_that_does_not_come_is_said_and_asked_for_again(browser: Browser, site: Path) -> None:
    troubles: list[str] = []
    with chapter(browser, site, SIX, troubles) as page:
        page.route("**/numpy.data*", lambda route: route.abort())
        cell = cell_with(page, "exponentials = np.exp(z)")
        press(cell, "Run")
        assert "Python did not run" in wait_until_said(cell, "did not run") and "Press Run" in status(cell)
        page.unroute("**/numpy.data*")
        stored = output(cell)
        assert run(cell) == stored
    assert len(troubles) >= 1 and all("numpy.data" in trouble or "ERR_FAILED" in trouble for trouble in troubles)
