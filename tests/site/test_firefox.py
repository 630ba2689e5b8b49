"""A short run in Firefox where it is installed: load, keys, drag, numbers, no outside request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.firefox import Firefox, find_firefox, firefox
from tests.support.live import missing, served
from tests.support.views import WANTED, shows


@pytest.fixture(scope="module")
def tab(gallery_html: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """The gallery, open in Firefox; nothing may fail or leave the machine while the tests run."""
    path = find_firefox()
    if path is None:
        missing("Firefox")
    with served(gallery_html) as address, firefox(path, tmp_path_factory.mktemp("profile")) as opened:
        opened.open(f"{address}/book/page.html")
        count = "document.querySelectorAll('{}').length"
        opened.wait_for(f"{count.format('.widget-view')} === {count.format('div.widget')}")
        yield opened
        assert opened.errors == []
        assert [url for url in opened.requests if not url.startswith((address, "blob:", "data:"))] == []


def rows_of(tab: Firefox, view: str) -> list[list[str]]:
    """What a view's tables show, row by row."""
    query = f"document.querySelectorAll('[data-view={view}] tbody tr')"
    return tab.evaluate(f"[...{query}].map((row) => [...row.children].map((cell) => cell.textContent))")


def wanted_rows(view: str, state: dict[str, Any]) -> list[list[Any]]:
    return [row for part in WANTED[view](state)["said"] for row in part.get("rows", [])]


def focus(tab: Firefox, view: str, nth: int = 0) -> tuple[float, float, float, float]:
    """Focus a slider of a widget; gives its left, top, width and height in the window."""
    script = f"""(() => {{
      const place = document.querySelector('[data-view={view}]').closest('.widget');
      const slider = place.querySelectorAll('input[type=range]')[{nth}];
      slider.scrollIntoView({{ block: 'center', behavior: 'instant' }});
      slider.focus();
      const {{ left, top, width, height }} = slider.getBoundingClientRect();
      return [left, top, width, height];
    }})()"""
    return tuple(tab.evaluate(script))


def value(tab: Firefox) -> float:
    return float(tab.evaluate("document.activeElement.value"))


def test_keys_move_a_slider(tab: Firefox) -> None:
    focus(tab, "overflow")
    tab.press("Home", *["ArrowRight"] * 3)
    assert value(tab) == -797
    state = {"logits": [2.0, 1.0, 0.1], "labels": ["cat", "dog", "fish"], "offset": -797}
    assert rows_of(tab, "overflow") == wanted_rows("overflow", state)


def test_a_drag_moves_a_slider(tab: Firefox) -> None:
    left, top, width, height = focus(tab, "probabilities")
    before, y = value(tab), top + height / 2
    tab.drag((left + 0.2 * width, y), (left + 0.8 * width, y))
    temperature = value(tab)
    assert temperature > before + 0.5
    state = {"labels": ["mat", "sofa", "floor", "roof", "idea"], "logits": [3.2, 2.1, 1.4, 0.3, -1.0]}
    state |= {"temperature": temperature, "top_k": 5, "top_p": 0.9}
    assert rows_of(tab, "probabilities") == wanted_rows("probabilities", state)


def test_late_data_come(tab: Firefox) -> None:
    focus(tab, "prompts")
    tab.wait_for("document.querySelector('[data-view=prompts] tbody td:nth-child(3)')?.textContent")
    assert shows(rows_of(tab, "prompts")[0][2], 0.0713)
