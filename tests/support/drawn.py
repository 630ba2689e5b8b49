"""What a view draws beside its numbers: rows, marks, bars, arrows, boxes and sentences, and what each must be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lmhead.widgets import _head_cost, _overflow
from lmhead.widgets._view import decimals

State = Mapping[str, Any]

READ = """(place) => {
  const view = place.querySelector(".widget-view");
  const all = (selector, get) => [...view.querySelectorAll(selector)].map(get);
  const which = (selector) => all("tbody tr", (row) => row.matches(selector)).flatMap((yes, at) => (yes ? [at] : []));
  const text = (one) => one.textContent;
  const pixels = (name) => (one) => parseFloat(one.style[name]);
  const place_of = (name) => (one) => Number(one.getAttribute(name));
  const found = (written) => written.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
  return {
    names: all("[data-number]", (one) => one.dataset.number),
    captions: all("caption, .lmhead-caption", text),
    headings: all("thead th", text),
    rows: all("tbody th", (head) => [...head.childNodes].map(text).filter(Boolean).join(" | ")),
    texts: all("td:not(:has([data-number]), [data-number])", text).filter(Boolean),
    best: which(".lmhead-best"), cut: which(".lmhead-cut"),
    marked: all("td.lmhead-mark", (one) => one.dataset.number),
    terms: all("dt", text), notes: all(".lmhead-note", text),
    bars: all(".lmhead-bar > div:not(.lmhead-nobar *) > i", pixels("width")),
    pushes: all(".lmhead-bar b", (one) => one.className),
    push_lefts: all(".lmhead-bar b", pixels("left")), push_widths: all(".lmhead-bar b", pixels("width")),
    sliders: all("input[type=range]", (one) => one.getAttribute("aria-label")),
    broken: all(".lmhead-broken caption", text),
    boxes: all(".lmhead-arrays span", text), dashed: all(".lmhead-view + span", text),
    heights: all(".lmhead-array", pixels("height")), widths: all(".lmhead-array", pixels("width")),
    svg_texts: all("svg text", text),
    text_x: all("svg text", place_of("x")), text_y: all("svg text", place_of("y")),
    point: all("circle", (one) => [place_of("cx")(one), place_of("cy")(one)]).flat(),
    curve: all("polyline", (one) => found(one.getAttribute("points"))).flat(),
    paths: all("svg > path", (one) => found(one.getAttribute("d"))).flat(),
    arrows: all(".lmhead-arrow", (one) => one.matches(".lmhead-best")),
    line_ends: all(".lmhead-arrow line", (one) => [place_of("x2")(one), place_of("y2")(one)]).flat(),
    heads: all(".lmhead-arrow path", (one) => found(one.getAttribute("transform"))).flat(),
  };
}"""


def check_drawing(view: str, drawn: Mapping[str, Any], state: State, numbers: Mapping[str, Any]) -> None:
    """Compare all that a view draws with what its state asks for; what a view does not name must not be there."""
    expected = DRAWINGS[view](state, numbers, drawn)
    for key, shown in drawn.items():
        wanted = expected.get(key, [])
        if any(isinstance(one, float) for one in wanted):
            wanted = pytest.approx(wanted, rel=1e-3, abs=1e-3)  # style sheets keep six digits
        assert shown == wanted, f"{view} draws other {key}: {shown}, not {wanted}"


UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


def shows(text: str, value: float) -> bool:
    """Whether a text shows a number to the last digit that it has."""
    if text in ("nan", "inf", "-inf"):
        return np.array_equal(float(text), value, equal_nan=True)
    parts = re.match(r"(-?[\d,]+(?:\.(\d+))?(?:e([+-]?\d+))?)(?: (B|KiB|MiB|GiB|TiB)$)?", text)
    if not parts:
        return False
    number, places, power, unit = parts.groups()
    shown = float(number.replace(",", ""))
    if unit:
        return abs(shown * UNITS[unit] - value) <= 5.1e-4 * value
    last = 10.0 ** (int(power or 0) - len(places or "")) if places or power else 1e-4  # whole: counts are exact
    return abs(shown - value) <= 0.5001 * last


def token_rows(state: State, columns: str, *more: str) -> dict[str, Any]:
    """A table with a row for each token, and a number named after it in each of the columns."""
    words, labels = state["words"], state["labels"]
    names = [f"{column}.{j}" for j in range(len(labels)) for column in columns.split()]
    headings = [words[key] for key in ("token", *columns.split())]
    return {"captions": [words["caption"]], "headings": headings, "rows": labels, "names": [*names, *more]}


def percent(fractions: Any) -> list[float]:
    """Lengths of bars: nothing for a NaN, and never longer than the cell."""
    return (100 * np.clip(np.nan_to_num(np.asarray(fractions, float)), 0, 1)).tolist()


def logit_sliders(state: State) -> list[str]:
    return [f"{state['words']['logit']}: {label}" for label in state["labels"]]


def probabilities(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    words, kept, greedy = state["words"], numbers["kept"], numbers["greedy"]
    table = token_rows(state, "logit p")
    cut = [j for j in range(len(state["labels"])) if j not in kept]
    marks = {greedy: f" | {words['greedy']}"} | {j: f" | {words['cut']}" for j in cut}
    return table | {
        "headings": [*table["headings"], words["draws"]],
        "rows": [label + marks.get(j, "") for j, label in enumerate(state["labels"])],
        "best": [greedy],
        "cut": cut,
        "bars": percent(np.where(np.isin(range(len(state["labels"])), kept), numbers["p"], numbers["before"])),
        "sliders": logit_sliders(state),
    }


def prompts(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    words, vocab, at = state["words"], f"{state['vocab']:,}", state["prompt"]
    first, *labels = state["labels"][at]
    table = token_rows({**state, "labels": [first, *labels]}, "logit p", "rest", "kept")
    return table | {
        "captions": [words["caption"].format(prompt=state["prompts"][at], vocab=vocab)],
        "headings": [*table["headings"], words["draws"]],
        "rows": [f"{first} | {words['greedy']}", *labels, words["rest"]],
        "notes": [words["kept"].format(kept=f"{numbers['kept']:,}", vocab=vocab)],
        "best": [0],
        "cut": list(range(numbers["kept"], len(labels) + 1)),
        "bars": percent(np.divide(numbers["p"], numbers["p"][0])),
    }


def directions(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Each arrow points where its vector does, the second axis upwards, all by one scale."""
    words, labels = state["words"], state["labels"]
    by_logit, by_cosine = numbers["best_logit"], numbers["best_cosine"]
    vectors = np.vstack([np.transpose(state["W_U"]), numbers["h"]]) * [1, -1]
    lengths = np.linalg.norm(vectors, axis=1)
    units = vectors / lengths[:, None]
    heads = np.reshape(drawn["heads"], (-1, 3))
    scale = np.linalg.norm(heads[0, :2]) / lengths[0]
    ends = np.linalg.norm(np.reshape(drawn["line_ends"], (-1, 2)), axis=1)
    assert scale > 10 and (ends <= scale * lengths + 1e-9).all() and (ends >= scale * lengths - 13).all()
    turns = np.degrees(np.arctan2(vectors[:, 1], vectors[:, 0]))
    turns = np.where(np.abs(np.abs(turns) - 180) < 1e-9, np.copysign(turns, heads[:, 2]), turns)  # 180 is -180
    texts = np.reshape([drawn["text_x"], drawn["text_y"]], (2, -1)).T
    assert ((texts * units).sum(axis=1) > scale * lengths).all(), "each name stands beyond its arrow's head"
    best = [words["best_logit"].format(token=labels[by_logit]), words["best_cosine"].format(token=labels[by_cosine])]
    marks = sorted([(by_cosine, f"cosine.{by_cosine}"), (by_logit, f"logit.{by_logit}")])
    return token_rows(state, "column_length cosine logit") | {
        "notes": ["; ".join(best) + ". " + words["agree" if by_logit == by_cosine else "disagree"]],
        "best": [by_logit],
        "marked": [name for _, name in marks],
        "arrows": [j == by_logit for j in range(len(labels))] + [False],
        "heads": np.column_stack([scale * vectors, turns]).ravel().tolist(),
        "line_ends": (ends[:, None] * units).ravel().tolist(),
        "svg_texts": [*labels, words["h"]],
        "text_x": drawn["text_x"],
        "text_y": drawn["text_y"],
        "paths": drawn["paths"],
    }


def loss(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """The point and the curve lie where the numbers beside the axes say."""
    words, target = state["words"], state["target"]
    left, _, bottom, right = drawn["paths"][:4]
    x_of, y_of = drawn["text_x"], drawn["text_y"]
    wide, high = x_of[4] - x_of[0], y_of[5] - y_of[10]  # from 0 to 1, and from 0 to 5
    assert left == x_of[0] < x_of[4] < right and 0 < high < bottom

    def at(p: Any, nats: Any) -> list[float]:
        return np.column_stack([left + wide * np.asarray(p), bottom - high / 5 * np.minimum(nats, 5)]).ravel().tolist()

    point = at([numbers["p"][target]], [numbers["loss"]])
    nats = np.linspace(0, 5, len(drawn["curve"]) // 2)
    across = [left + wide * p for p in (0, 0.25, 0.5, 0.75, 1)]
    up = [y_of[5] - high / 5 * tick for tick in range(6)]
    return token_rows(state, "logit p", "loss", "bits", "perplexity") | {
        "terms": [words["nats"], words["bits"], words["perplexity"]],
        "best": [target],
        "bars": percent(numbers["p"]),
        "sliders": logit_sliders(state),
        "svg_texts": [*map(str, [0, 0.25, 0.5, 0.75, 1, *range(6)]), words["x_axis"], words["y_axis"]],
        "text_x": [*across, *6 * [x_of[5]], *x_of[11:]],
        "text_y": [*5 * [y_of[0]], *up, *y_of[11:]],
        "curve": at(np.exp(-nats), nats),
        "point": point,
        "paths": [*drawn["paths"][:4], point[0], bottom, point[1], left],
    }


def gradient_step(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """An arrow goes up where the gradient is negative, from p to the target's 1, and down to 0 where it is not."""
    words, gradient = state["words"], np.array(numbers["gradient"])
    return token_rows(state, "logit p gradient", "loss", "next_loss", "steps") | {
        "terms": [words["loss"], words["next_loss"], words["steps"]],
        "best": [state["target"]],
        "bars": percent(numbers["p"]),
        "pushes": ["lmhead-up" if slope < 0 else "lmhead-down" for slope in gradient],
        "push_lefts": percent(np.where(gradient < 0, numbers["p"], 0)),
        "push_widths": percent(np.abs(gradient)),
    }


def overflow(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    words, tokens = state["words"], range(len(state["labels"]))
    forms = ("stored", "naive", "shifted")
    names, bars, notes, broken = [], [], [], []
    for name in _overflow.FORMATS:
        names += [f"{form}_{name}.{j}" for j in tokens for form in forms] + [f"sum_{name}"]
        bars += np.column_stack([numbers[f"naive_{name}"], numbers[f"shifted_{name}"]]).ravel().tolist()
        naive, shifted = (np.abs(np.subtract(numbers[f"{form}_{name}"], numbers["exact"])).max() for form in forms[1:])
        fails = not naive <= 1e-3  # a NaN fails
        broken += [name] if fails else []
        cause = {np.inf: words["overflow"], 0.0: words["underflow"]}.get(numbers[f"sum_{name}"], "")
        inexact = words["inexact"].format(error=decimals(float(shifted))) if shifted > 1e-3 else ""
        notes.append(" ".join(filter(None, [cause, inexact])) or words["shift_only" if fails else "works"])
    return {
        "names": names,
        "captions": [words["caption"].format(offset=state["offset"]), *_overflow.FORMATS],
        "headings": 3 * [words[key] for key in ("token", *forms)],
        "rows": 3 * state["labels"],
        "bars": percent(bars),
        "notes": notes,
        "broken": broken,
    }


def shapes(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Areas are as count to count, the longest side of all is 150, and of a ratio of sides the fourth root is drawn."""
    words, arrays = state["words"], ["E", "h", "W_U", "logits"]
    d_model, vocab_size, positions = state["d_model"], state["vocab_size"], state["positions"]
    rows = np.array([vocab_size, positions, d_model, positions], float)
    columns = np.array([d_model, d_model, vocab_size, vocab_size], float)
    ratio = (columns / rows) ** 0.25
    widths, heights = np.sqrt(rows * columns * ratio), np.sqrt(rows * columns / ratio)
    longest = max(*widths, *heights)
    texts = []
    for name, height, width in zip(arrays, rows, columns, strict=True):
        texts += [f"{height:,.0f} × {width:,.0f}", numbers[name] * state["bytes_per_number"]]
    texts.append(numbers["parameters"] * state["bytes_per_number"])
    if state["tied"]:
        texts[5] = words["view"]
    pairs = zip(drawn["texts"], texts, strict=True)
    return {
        "names": [*arrays, "parameters"],
        "captions": [words["caption"]],
        "headings": [words[key] for key in ("array", "shape", "count", "bytes")],
        "rows": [words[key] for key in (*arrays, "parameters")],
        "texts": [text if isinstance(size, int) and shows(text, size) else size for text, size in pairs],
        "best": [4],
        "notes": [words["picture"]],
        "boxes": [words[name] for name in arrays],
        "dashed": [words["W_U"]] if state["tied"] else [],
        "widths": (150 * widths / longest).tolist(),
        "heights": (150 * heights / longest).tolist(),
    }


def head_cost(state: State, numbers: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    words, names = state["words"], list(_head_cost.FORMULAS)
    largest = max(numbers["logits_bytes"], numbers["head_bytes"])
    return {
        "names": names,
        "captions": [words["caption"]],
        "headings": [words[key] for key in ("what", "formula", "amount")],
        "rows": [words[name] for name in names],
        "texts": list(_head_cost.FORMULAS.values()),
        "bars": percent([numbers[name] / largest for name in names[:-1]]),  # multiply-adds are no bytes
    }


DRAWINGS = {
    "probabilities": probabilities,
    "prompts": prompts,
    "directions": directions,
    "loss": loss,
    "gradient_step": gradient_step,
    "overflow": overflow,
    "shapes": shapes,
    "head_cost": head_cost,
}
