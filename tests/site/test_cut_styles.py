"""No page looks different for its cut style: it is compared in a browser with the whole style sheets, state by state.

Four pages in each run; all of them with `--every-page`, as once a week: they take minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cut_styles import cut, known_on, sheet
from playwright.sync_api import Browser, Page
from sphinx.errors import ExtensionError

from tests.support.live import served
from tests.support.live_python import ENDED, PATIENCE, press, wait_until_said, write
from tests.support.styles import CUT, left_out, look_alike, opened, view

# ---- which rules stay

SHEET = """
@charset "utf-8"; @import "more.css";
p, .gone p, p.note:not(.gone) { color: var(--used); --unused: 1; --never: 2 }
.from-script:hover > [data-lazy] { color: red }
.own, .no-where { color: var(--in-page) }
#top::before { animation: turn 1s; --used: var(--through); --through: blue; --in-script: 1 }
[open] summary, [hidden], [loading], tbody { color: red }
dialog { color: red }
@media print { .gone { color: red } p { color: black ! important } }
@media screen { .gone { color: red } }
@keyframes turn { to { rotate: 1turn } }
@keyframes other { to { rotate: 1turn } }
@font-face { font-family: A; src: url(../a.woff2) }
"""
PAGE = """<p class="note" id="top" style="--in-page: 1">gone</p><details><summary>.</summary></details>
<script>add("from-script", "data-lazy", "--in-script")</script>"""


def test_a_rule_stays_if_the_page_or_a_script_names_all_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "_static/styles").mkdir(parents=True)
    (tmp_path / "_static/styles/more.css").write_text("summary { color: green } .gone { color: red }")
    whole = tmp_path / "_static/styles/all.css"
    whole.write_text(SHEET)
    kept = cut(sheet(whole, tmp_path / "_static"), known_on(PAGE, tmp_path, {"own"}))
    assert kept.splitlines() == [
        "summary{color:green}",
        "p,p.note:not(.gone){color:var(--used)}",
        ".from-script:hover > [data-lazy]{color:red}",
        ".own{color:var(--in-page)}",
        "#top::before{animation:turn 1s;--used:var(--through);--through:blue;--in-script:1}",
        "[open] summary,[hidden],tbody{color:red}",
        "@media print{p{color:black!important}",
        "}",
        "@keyframes turn { to { rotate: 1turn } }@font-face { font-family: A; src: url(a.woff2) }",
    ]


def test_what_is_loaded_from_another_host_stops_the_build(tmp_path: Path) -> None:
    for address in ("https://example.org/a.js", "//example.org/a.js"):
        with pytest.raises(ExtensionError, match=f"^{address} is loaded from another host"):
            known_on(f'<script src="{address}"></script>', tmp_path, set())


USUAL = ["book/index.html", "book/03_columns_are_directions.html", "genindex.html", "search.html?q=softmax"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", ["every page"] if metafunc.config.getoption("every_page") else USUAL)


CELLS = "div.cell:has(.python-bar):not(.tag_hide-input, .needs-model)"

# ---- states that a reader brings about; those of the pointer and the keyboard are in the selectors


def as_it_opens(page: Page) -> None:
    """Nothing has been done to it."""


def with_cells_that_have_run(page: Page) -> None:
    """One as it stands in the book; one with an error in place of its output, its editor open."""
    second = page.locator(CELLS).nth(1)
    write(second, "print('text')\n1 / 0")
    press(second, "Run")
    wait_until_said(second, ENDED)


def with_a_cell_that_runs(page: Page) -> None:
    """One that has been edited and does not end."""
    first = page.locator(CELLS).first
    write(first, "import time\nwhile True: time.sleep(1)")
    press(first, "Run")
    wait_until_said(first, "^Running")


def with_a_cell_that_was_stopped(page: Page) -> None:
    """And is again as it was before."""
    first = page.locator(CELLS).first
    press(first, "Stop")
    wait_until_said(first, "^Stopped")
    press(first, "Restore")


def in_the_dark_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def in_the_systems_colours(page: Page) -> None:
    page.emulate_media(forced_colors="active")


def on_paper(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light", forced_colors="none", media="print")


def unfolded_with_a_menu_and_a_copy(page: Page) -> None:
    page.emulate_media(media="screen")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for button in page.locator("button.copybtn").all()[:1]:
        button.evaluate("(button) => button.click()")
    for menu in page.locator(".dropdown-toggle:visible").all():
        menu.click()
    page.wait_for_timeout(100)


def without_contents_and_with_a_tooltip(page: Page) -> None:
    page.locator(".primary-toggle").click()
    page.locator("button[data-bs-toggle=tooltip]:visible").last.hover()
    page.locator(".tooltip.show").wait_for()
    page.wait_for_timeout(100)


def searching(page: Page) -> None:
    page.mouse.move(0, 0)
    page.keyboard.press("Control+k")  # on the search page this leads into its own field
    page.locator("#pst-search-dialog[open], #search-results").first.wait_for()


OF_CELLS: list[Callable[[Page], None]] = [with_cells_that_have_run, with_a_cell_that_runs, with_a_cell_that_was_stopped]
STATES: list[Callable[[Page], None]] = [
    in_the_dark_on_a_phone,
    in_the_systems_colours,
    on_paper,
    unfolded_with_a_menu_and_a_copy,
    without_contents_and_with_a_tooltip,
    searching,
]


# What changes is in the window; the rest was compared before.
IN_THE_WINDOW = [with_a_cell_that_runs, with_a_cell_that_was_stopped, without_contents_and_with_a_tooltip, searching]


def differences(browser: Browser, address: str) -> list[str]:
    """What is wrong with the style of a page: rules that it lacks, states in which it is painted differently.

    Each state is brought about while the page wears its own style: what a script measures then is the same in both.
    """
    found = []
    with opened(browser, address, both=True) as page:
        page.set_default_timeout(PATIENCE)
        with opened(browser, address, both=False) as as_it_is:
            if not look_alike(view(as_it_is), view(page, "whole")):
                found.append("painted differently while nothing but its own style was ever there")
        for state in [as_it_opens, *(OF_CELLS if page.locator(CELLS).count() else []), *STATES]:
            state(page)
            name = state.__name__
            rules = left_out(page)
            assert rules["left"] > 2000 and rules["kept"] > 300, rules  # both were read
            found += [f"{name}: {rule} is left out" for rule in rules["matched"]]
            whole, own = (view(page, which, all_of_it=state not in IN_THE_WINDOW) for which in ("whole", "own"))
            if not look_alike(whole, own):
                found.append(f"{name}: painted differently")
    return found


def test_a_page_looks_as_with_the_whole_style_sheets(browser: Browser, site: Path, page_name: str) -> None:
    names = [page_name]
    if page_name == "every page":
        pages = sorted(site.rglob("*.html"))
        names = [page.relative_to(site).as_posix() for page in pages if CUT.search(page.read_text("utf-8"))]
        assert len(names) > 20
    with served(site) as address:
        found = {name: differences(browser, f"{address}/{name}") for name in names}
    assert {name: some for name, some in found.items() if some} == {}
