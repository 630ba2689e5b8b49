"""A short run in Firefox where it is installed: load, keys, drag, numbers, no outside request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.firefox import Firefox, find_firefox, firefox
from tests.support.live import NUMBERS, missing, served, shows


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


def numbers_of(tab: Firefox, view: str) -> dict[str, str]:
    query = f"document.querySelectorAll('[data-view={view}] [data-number]')"
    return dict(tab.evaluate(f"[...{query}].map((one) => [one.dataset.number, one.textContent])"))


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
    state = {"logits": [2.0, 1.0, 0.1], "offset": -797}
    drawn = numbers_of(tab, "overflow")
    for name, expected in NUMBERS["overflow"](state).items():
        for at, number in enumerate(expected if isinstance(expected, list) else []):
            assert name == "exact" or shows(drawn[f"{name}.{at}"], number), (name, at, drawn)


def test_a_drag_moves_a_slider(tab: Firefox) -> None:
    left, top, width, height = focus(tab, "probabilities")
    before, y = value(tab), top + height / 2
    tab.drag((left + 0.2 * width, y), (left + 0.8 * width, y))
    temperature = value(tab)
    assert temperature > before + 0.5
    state = {"logits": [3.2, 2.1, 1.4, 0.3, -1.0], "temperature": temperature, "top_k": 5, "top_p": 0.9}
    drawn = numbers_of(tab, "probabilities")
    assert all(shows(drawn[f"p.{j}"], p) for j, p in enumerate(NUMBERS["probabilities"](state)["p"])), drawn


def test_late_data_come(tab: Firefox) -> None:
    focus(tab, "prompts")
    tab.wait_for("document.querySelector('[data-view=prompts] [data-number=kept]')")
    assert shows(numbers_of(tab, "prompts")["p.0"], 0.0713)
