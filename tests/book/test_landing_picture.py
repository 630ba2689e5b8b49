"""The picture on the landing page: what it draws, and where, is what the package computes; what it says is in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup

from lmhead import cross_entropy, softmax, unembed
from tools.chapters import ROOT

AMBER = "#c2700a"  # of what wins


@cache
def svg(name: str) -> BeautifulSoup:
    return BeautifulSoup((ROOT / f"book/_static/chain/{name}.svg").read_text(encoding="utf-8"), "html.parser")


def drawn(name: str) -> Any:
    """The marks that show a number."""
    return svg(name).find_all(attrs={"data-value": True})


def values(name: str) -> np.ndarray:
    return np.array([float(mark["data-value"]) for mark in drawn(name)])


def place(rect: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(float(rect[key]) for key in ("x", "y", "width", "height"))


h, z, p = values("hidden"), values("logits"), values("probabilities")
W_U = values("unembedding").reshape(3, 5)
best = int(z.argmax())


def test_its_numbers_follow_from_each_other() -> None:
    assert np.allclose(z, unembed(h, W_U))
    assert np.allclose(p, softmax(z), atol=5e-5)
    assert np.allclose(values("loss"), cross_entropy(z, best), atol=5e-5)


@pytest.mark.parametrize("name", ["logits", "probabilities"])
def test_bars_stand_on_their_line_or_hang_from_it(name: str) -> None:
    numbers, (axis,) = values(name), svg(name).find_all("path")
    per_one, zero = (84, 90) if name == "probabilities" else (86 / np.ptp(z), 5 + 86 / np.ptp(z) * z.max())
    x, y, width, height = np.array([place(bar) for bar in drawn(name)]).T
    assert x.tolist() == [18, 40, 62, 84, 106] and set(width) == {16}, "in the order of the tokens"
    assert np.allclose(height, per_one * np.abs(numbers), atol=0.02)
    assert np.allclose(y, zero - height * (numbers > 0), atol=0.02)
    assert axis["d"] == f"M8 {zero:.4g}H132"
    assert [bar["fill"] == AMBER for bar in drawn(name)] == (z == z[best]).tolist()


@pytest.mark.parametrize(("name", "rows", "of_one"), [("hidden", 1, 18), ("unembedding", 3, 18 / np.sqrt(2))])
def test_squares_stand_row_by_row_in_a_frame(name: str, rows: int, of_one: float) -> None:
    """An area is the size of a number, an outline says that it is negative."""
    squares, numbers = drawn(name), values(name)
    frame, *framed = (one for one in svg(name).find_all("rect") if not one.get("data-value"))
    left, top, width, height = place(frame)
    assert (width, height) == (22 * len(squares) / rows, 22 * rows)
    cells = [(left + across, top + down) for down in range(0, 22 * rows, 22) for across in range(0, int(width), 22)]
    corners, sides = np.split(np.array([place(one) for one in squares]), 2, axis=1)
    assert np.allclose(corners + sides / 2, np.array(cells) + 11, atol=0.01)
    hollow = np.array([one["fill"] == "none" and one["stroke"] != "none" for one in squares])
    assert hollow.tolist() == (numbers < 0).tolist()
    outer = sides + 2 * hollow[:, None]  # half of an outline's width lies outside on each side
    assert np.allclose(outer, of_one * np.sqrt(np.abs(numbers))[:, None], atol=0.01)
    assert [place(one) for one in framed] == ([(left + 22 * best, top, 22, height)] if rows > 1 else [])
    assert all(one["stroke"] == AMBER for one in framed), "the column that wins"


def test_the_curve_is_minus_log_p_with_a_point_at_the_target() -> None:
    _, curve, drop = svg("loss").find_all("path")
    (point,), (loss,) = drawn("loss"), values("loss")
    x, y = np.array(curve["d"][1:].split(), float).reshape(-1, 2).T
    shown = (np.append(x, float(point["cx"])) - 14) / (126 - 14)  # p is 0 at 14, where the axis stands, and 1 at 126
    nats = loss * (90 - np.append(y, float(point["cy"]))) / (90 - float(point["cy"]))
    assert np.allclose(shown, np.exp(-nats), atol=0.003)
    assert shown[-1] == pytest.approx(p[best], abs=1e-3)
    assert drop["d"] == f"M{point['cx']} 90V{point['cy']}"


def test_each_step_has_its_own_picture_whose_text_counts_what_is_in_it() -> None:
    page = (ROOT / "book/index.md").read_text("utf-8")
    steps = re.findall(r"^\d\. !\[(.*)\]\(_static/chain/(\w+)\.svg\)\n\n   \*\*(.*?)\*\*", page, re.M)
    assert [(name, title) for _, name, title in steps] == [
        ("hidden", "Hidden state"),
        ("unembedding", "Unembedding"),
        ("logits", "Logits"),
        ("probabilities", "Probabilities"),
        ("loss", "Cross-entropy"),
    ]
    said = {name: alt for alt, name, _ in steps}
    count, place_of = ["no", "one", "two", "three", "four", "five"], ["first", "second", "third", "fourth", "fifth"]
    up, down, winner = count[(z > 0).sum()], count[(z < 0).sum()], place_of[best]
    assert f"row of {count[len(h)]} squares" in said["hidden"] and f"{count[(h < 0).sum()]} negative" in said["hidden"]
    assert f"{count[len(h)]} rows and {count[len(z)]} columns" in said["unembedding"]
    assert said["logits"] == f"Five bars, {up} above a line and {down} below it; the {winner} is the highest."
    assert said["probabilities"] == f"Five bars on a line; the {winner} holds most of the total." and p[best] > 0.5
