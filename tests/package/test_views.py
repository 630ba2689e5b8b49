"""Every view at hundreds of settings: what it shows, draws, says and announces, beside lmhead's public functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lmhead.widgets import directions, probabilities
from tests.support.gallery import figure_of
from tests.support.views import MODULES, Script, all_of, cells_with, check, check_labels, said_in

SLOW = ("prompts", "training")  # a whole vocabulary; hundreds of steps


@pytest.fixture(scope="module", params=MODULES)
def view(request: pytest.FixtureRequest) -> tuple[str, Any, Script]:
    """A view by its name, as the gallery shows it, and its script."""
    made = figure_of(request.param)
    return request.param, made, Script(made.view._esm)


def state_of(figure: Any) -> dict[str, Any]:
    return {key: value for key, value in figure.view.get_state().items() if key[0] != "_"}


def values_of(control: Any) -> list[Any]:
    """Every value that a control can have, at most a few hundred."""
    kind = type(control).__name__
    if kind == "Dropdown":
        return list(range(len(control.options)))
    if kind == "Checkbox":
        return [False, True]
    steps = np.unique(np.linspace(0, round((control.max - control.min) / control.step), 300).round())
    values = control.min + steps * control.step
    if kind == "FloatLogSlider":
        return (control.base**values).tolist()
    return values.astype(int).tolist() if kind == "IntSlider" else values.round(10).tolist()


def states(figure: Any, n: int) -> Iterator[dict[str, Any]]:
    """The first state, each control at both of its ends, and random settings of all at once, logits too."""
    rng, first = np.random.default_rng(0), state_of(figure)
    values = {key: values_of(control) for key, control in figure.controls.items()}
    yield first
    for key, end in itertools.product(values, (0, -1)):
        yield {**first, key: values[key][end]}
    for _ in range(n):
        state = {**first, **{key: all_[rng.integers(len(all_))] for key, all_ in values.items()}}
        if "start" in first:
            state["logits"] = (rng.integers(-100, 101, len(first["start"])) / 10).tolist()
        yield state


def test_it_shows_what_lmhead_computes(view: tuple[str, Any, Script]) -> None:
    name, figure, script = view
    for state in states(figure, 20 if name in SLOW else 150):
        scene = script.call("scene", state)
        try:
            check(name, state, scene)
        except AssertionError as error:
            where = {key: state[key] for key in [*figure.controls, "logits"] if key in state}
            raise AssertionError(f"{name} at {where}") from error


def test_without_scripts_it_says_the_same(view: tuple[str, Any, Script]) -> None:
    name, figure, script = view
    for state in states(figure, 5 if name in SLOW else 60):
        assert MODULES[name].said(state) == said_in(script.call("scene", state))
    parts = MODULES[name].said(state_of(figure))
    texts = [text for part in parts for text in flat(part.values())]
    assert flat_html(figure.static) == [text for text in texts if text]


def flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for one in value:
            yield from flat(one)


def flat_html(html: str) -> list[str]:
    from bs4 import BeautifulSoup

    return [text for text in BeautifulSoup(html, "html.parser").strings if text]


# view -> label of a control above it -> lowest, highest, step; the options of a menu; nothing for a box
CONTROLS: dict[str, dict[str, Any]] = {
    "probabilities": {"temperature": (0.1, 3, 0.05), "top-k": (1, 5, 1), "top-p": (0.05, 1, 0.05)},
    "prompts": {
        "prompt": 6,
        "temperature": (0.1, 3, 0.05),
        "top-k": (0, math.log2(49_152), math.log2(49_152) / 64),
        "top-p": (0.05, 1, 0.05),
    },
    "directions": {"angle of h (degrees)": (-180, 180, 1), "length of h": (0.1, 3, 0.1)},
    "loss": {"target": ("cat", "dog", "fish")},
    "gradient_step": {"target": ("cat", "dog", "fish"), "learning rate": (0.1, 5, 0.1)},
    "overflow": {"offset on all logits": (-800, 800, 1)},
    "shapes": {
        "d_model": (32, 8192, 32),
        "vocabulary": (32, 262_144, 32),
        "positions": (1, 2048, 1),
        "tied: W_U is a view of E": None,
    },
    "head_cost": {
        "positions N": (256, 65_536, 256),
        "d_model d": (32, 16_384, 32),
        "vocabulary V": (32, 262_144, 32),
        "chunk of columns": (256, 16_384, 256),
        "devices": (1, 16, 1),
    },
    "training": {"step": (0, 500, 1), "after": (".", "a", "b", "c"), "seed": (0, 9, 1)},
}


def test_its_controls_are_called_and_range_as_they_should(view: tuple[str, Any, Script]) -> None:
    name, figure, _ = view
    assert [control.description for control in figure.controls.values()] == list(CONTROLS[name])
    for (key, control), wanted in zip(figure.controls.items(), CONTROLS[name].values(), strict=True):
        kind = type(control).__name__
        if kind == "Dropdown":
            assert control.options == wanted or len(control.options) == wanted
            assert control.index == state_of(figure)[key]
        elif kind == "Checkbox":
            assert wanted is None and control.value == state_of(figure)[key]
        else:
            assert (control.min, control.max, control.step) == pytest.approx(wanted)
            assert control.value == state_of(figure)[key]


# ---- when it speaks

# Renders a view on a clock of its own and gives what its status says: before anything; then for each half of the steps
# after each step of the state, and just before and after 400 ms have gone since the last one.
SPOKEN = """((first, ...steps) => {
  const timers = new Map();
  let now = 0, painted, change, state = first;
  globalThis.setTimeout = (act, wait) => { timers.set(act, now + wait); return act; };
  globalThis.clearTimeout = (act) => timers.delete(act);
  patch = (place, wanted) => { painted = wanted; };
  const until = (then) => {
    for (const [act, due] of timers) if (due <= then) { timers.delete(act); act(); }
    now = then;
  };
  const said = () => painted.find(({ attributes }) => attributes.role === "status").children.join("");
  const heard = [];
  render({ model: { get: (key) => state[key], on: (_, act) => { change = act; } } });
  heard.push(said());
  for (const half of [steps.slice(0, steps.length / 2), steps.slice(steps.length / 2)]) {
    for (const step of half) {
      state = step;
      change();
      heard.push(said());
      until(now + 390);
    }
    heard.push(said());
    until(now + 20);
    heard.push(said());
  }
  return heard;
})"""


def test_it_is_silent_while_a_slider_moves_and_speaks_once_it_rests(view: tuple[str, Any, Script]) -> None:
    """However many steps come, each less than 400 ms after the one before; what was said stays until the next rest."""
    _, figure, script = view
    first, *moved = itertools.islice(states(figure, 8), 7)
    said = [script.call("scene", state)["said"] for state in moved]
    one, other = said[2], next(words for words in said if words != said[2])
    moved[-1] = moved[said.index(other)]  # at each rest it has something new to say
    turned = Script(figure.view._esm)  # its clock is turned by hand
    assert turned.call(SPOKEN, first, *moved) == [*[""] * 5, one, *[one] * 4, other]


# ---- what its own controls do


def test_a_slider_in_a_view_sets_its_own_logit() -> None:
    for name in ("probabilities", "loss"):
        figure = figure_of(name)
        script, state = Script(figure.view._esm), state_of(figure)
        find = "(state, j) => all(scene(state)).map((cell) => cell.slider).filter(Boolean)[j].set(-3.5)"
        cells = "((scene) => scene.parts.flatMap(tables).flatMap(({ rows }) => rows.flatMap(({ cells }) => cells)))"
        tables = "((part) => part.table ?? part.beside?.flat().flatMap((one) => one.table ?? []) ?? [])"
        script.racer.eval(f"const tables = {tables}, all = {cells}, move = {find}; 0")
        for j in range(len(state["logits"])):
            wanted = [-3.5 if i == j else z for i, z in enumerate(state["logits"])]
            assert script.call("move", state, j) == {"logits": wanted}


def pressed(script: Script, state: dict[str, Any], button: int, u: float = 0.5) -> dict[str, Any]:
    """The state after a button is pressed and the number u is drawn."""
    find = "(state, at, u) => scene(state).parts.flatMap((part) => part.buttons?.all ?? [])[at].set(u)"
    return {**state, **script.call(f"({find})", state, button, u)}


def test_steps_follow_the_gradient_and_reset_goes_back() -> None:
    figure = figure_of("gradient_step")
    script, first = Script(figure.view._esm), state_of(figure)
    state, losses = first, []
    for steps in range(1, 6):
        state = pressed(script, state, 0)
        assert state["steps"] == steps
        check("gradient_step", state, script.call("scene", state))
        losses.append(MODULES["gradient_step"].numbers(state)["loss"])
    assert losses == sorted(losses, reverse=True)
    assert pressed(script, state, 1) == first


@pytest.mark.parametrize("name", ["probabilities", "prompts"])
def test_draws_are_counted_until_a_setting_changes(name: str) -> None:
    figure = figure_of(name)
    script, state = Script(figure.view._esm), state_of(figure)
    state["top_p"] = 0.9
    shown = MODULES[name].numbers(state)
    p = np.array([*shown["p"], *([shown["rest"]] if "rest" in shown else [])])
    rng, tokens = np.random.default_rng(1), []
    for _ in range(30):
        u = float(rng.random())
        state = pressed(script, state, 0, u)
        tokens.append(int((np.cumsum(p) <= u * p.sum()).sum()))
        scene = script.call("scene", state)
        counts = [int(row["cells"][-1]) for table in all_of(scene, "table") for row in table["rows"]]
        assert counts == np.bincount(tokens, minlength=len(p)).tolist()
        names = [row["name"] for row in all_of(scene, "table")[0]["rows"]]
        (buttons,) = all_of(scene, "buttons")
        assert scene["said"] == buttons["text"] == f"draw {len(tokens)}: {names[tokens[-1]]}"
    assert len(set(tokens)) > 1 and all(p[token] > 0 for token in tokens)
    assert all_of(scene, "table")[0]["headings"][-1] == "draws"
    check(name, {**state, "temperature": 0.5}, script.call("scene", {**state, "temperature": 0.5}))
    own = {"prompt": 1} if name == "prompts" else {"logits": [*state["logits"][:-1], 0.5]}
    for key, other in {"temperature": 0.5, "top_k": 3, "top_p": 0.5, **own}.items():
        changed = {**state, key: other}
        assert script.call("scene", changed) == script.call("scene", {**changed, "drawn": None}), key


def test_a_prompt_on_its_way_says_so() -> None:
    figure = figure_of("prompts")
    script, state = Script(figure.view._esm), state_of(figure)
    scene = script.call("scene", {key: value for key, value in state.items() if key != "tail_0"})
    assert scene["said"] == "The logits of this prompt are being loaded." == all_of(scene, "note")[0]
    assert set(cells_with(scene, "bar")) == {0} and not any(row.get("cut") for row in all_of(scene, "table")[0]["rows"])


# ---- where labels stand


def half(text: str, bold: bool) -> float:
    """Half the width of a text, as wide as Chromium draws it in the book's face or a little wider."""
    return sum(7 if letter > "⺀" else 6.2 if letter in "mwMW@%—" else 4.4 for letter in text) * (1.06 if bold else 1)


def boxes(marks: list[dict[str, Any]]) -> list[tuple[str, list[float]]]:
    found = []
    for mark in marks:
        if "label" in mark:
            w, (x, y) = half(str(mark["label"]), mark.get("bold", False)), mark["at"]
            x += {"start": w, "middle": 0, "end": -w}[mark.get("anchor", "middle")]
            found.append((mark["label"], [x - w, y - 7.5, x + w, y + 7.5]))
    return found


def test_no_label_lies_on_a_line_or_on_another(view: tuple[str, Any, Script]) -> None:
    """At every setting of the sliders, in fine steps: the lines are followed point by point."""
    name, figure, script = view
    first = state_of(figure)
    if name == "directions":
        angles, lengths = figure.controls["angle"], figure.controls["length"]
        settings = [
            {**first, "angle": angle, "length": length}
            for angle in range(angles.min, angles.max + 1, 2)
            for length in np.arange(lengths.min, lengths.max + 0.05, 0.7).round(1).tolist()
        ]
        settings += list(other_columns(first))
    else:
        settings = list(states(figure, 60)) if name in ("loss", "training") else [first]
        assert name in ("loss", "training") or not all_of(script.call("scene", first), "picture"), (
            "labels only lie in pictures"
        )
    for state in settings:
        for picture in all_of(script.call("scene", state), "picture"):
            marks = picture["marks"]
            placed = boxes(marks)
            left, top, width, height = picture["box"]
            where = {key: state[key] for key in ("labels", "W_U", "angle", "length", "logits") if key in state}
            try:
                check_labels(placed, marks)
                for text, (x0, y0, x1, y1) in placed:
                    assert left <= x0 and x1 <= left + width and top <= y0 and y1 <= top + height, f"{text} is outside"
            except AssertionError as error:
                raise AssertionError(str(where)) from error


def other_columns(first: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Columns of chapter 3, long names, columns on one line, equal ones, and eight at random."""
    rng = np.random.default_rng(3)
    names = ["cat", "dog", "fish", "hidden state", "W", "mmmmmm", "猫", "a", "b"]
    for angle in range(-180, 180, 15):
        for n in (2, 3, 5, 8):
            W_U = rng.normal(size=(2, n))
            some = [names[j] for j in rng.permutation(len(names))[:n]]
            yield {**first, "W_U": W_U.tolist(), "labels": some, "angle": angle, "length": float(rng.uniform(0.1, 3))}
        for rows in ([[1, 2, 1], [0, 0, 0]], [[1, 1], [1, 1]], [[0, 0, 1], [1, -1, 0]]):
            yield {**first, "W_U": rows, "labels": names[: len(rows[0])], "angle": angle}


def test_a_long_name_is_cut_in_the_picture_alone() -> None:
    long = "internationalisation"
    made = directions([[1.0, 2.0], [0.5, -1.0]], [long, "b"])
    scene = Script(made.view._esm).call("scene", state_of(made))
    assert said_in(scene)[0]["rows"][0][0] == long
    assert [mark["label"] for mark in all_of(scene, "picture")[0]["marks"] if "label" in mark] == [
        "internation…",
        "b",
        "h",
    ]


def test_a_slider_reaches_a_far_logit_and_lies_on_its_step() -> None:
    made = probabilities([23.14, -41.0], ["a", "b"])
    state = state_of(made)
    check("probabilities", state, Script(made.view._esm).call("scene", state))
