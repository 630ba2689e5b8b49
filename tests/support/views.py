"""The views' scripts in V8, without a page; and what each view must show, by lmhead's public functions and formulas.

Words, units and ranges stand here as a reader meets them, a second time, so that one that is changed is noticed.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import lmhead
from lmhead.widgets import (
    _directions,
    _gradient_step,
    _head_cost,
    _loss,
    _overflow,
    _probabilities,
    _prompts,
    _shapes,
    _training,
)

State = Mapping[str, Any]
MODULES = {
    "probabilities": _probabilities,
    "prompts": _prompts,
    "directions": _directions,
    "loss": _loss,
    "gradient_step": _gradient_step,
    "overflow": _overflow,
    "shapes": _shapes,
    "head_cost": _head_cost,
    "training": _training,
}

# ---- the scripts


class Script:
    """A view's script in V8: it touches no page until it is asked to render."""

    def __init__(self, text: str) -> None:
        names = re.findall(r"^(?:function|const|let) (\w+)", text, re.M)
        assert len(names) == len(set(names)), "a module declares each name once"
        self.racer = MiniRacer()
        self.racer.eval(text.replace("export default", "const view =") + "\nconst held = {};")
        self.held: set[int] = set()

    def call(self, function: str, *arguments: Any) -> Any:
        """The value of a function; JSON has no word for what is not finite, so those come as text."""
        given = ", ".join(map(self._given, arguments))
        odd = "(_, x) => Object.is(x, -0) ? '-0' : typeof x === 'number' && !Number.isFinite(x) ? String(x) : x"
        return revived(json.loads(self.racer.eval(f"JSON.stringify({function}({given}), {odd}) ?? 'null'")))

    def _given(self, argument: Any) -> str:
        """An argument as a script; bytes, as of a vocabulary's logits, are brought over once."""
        if not isinstance(argument, Mapping):
            return json.dumps(argument)
        data = {key: bytes(value) for key, value in argument.items() if isinstance(value, bytes | memoryview)}
        for value in data.values():
            if hash(value) not in self.held:
                self.held.add(hash(value))
                self.racer.eval(f"held['{hash(value)}'] = new DataView(Uint8Array.from({list(value)}).buffer); 0")
        plain = json.dumps({key: value for key, value in argument.items() if key not in data and key[0] != "_"})
        late = "".join(f", {key}: held['{hash(value)}']" for key, value in data.items())
        return f"{{...{plain}{late}}}"


def revived(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: revived(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [revived(entry) for entry in value]
    words = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
    return words.get(value, value) if isinstance(value, str) else value


def parts_of(parts: list[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """All parts of a scene as (kind, what), those side by side one after the other."""
    for part in parts:
        for kind, what in part.items():
            if kind in ("beside", "cards"):
                for side in what:
                    yield from parts_of(side if kind == "beside" else side["parts"])
            else:
                yield kind, what


def all_of(scene: Mapping[str, Any], kind: str) -> list[Any]:
    return [what for one, what in parts_of(scene["parts"]) if one == kind]


def rows_of(scene: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for table in all_of(scene, "table") for row in table["rows"]]


def cells_with(scene: Mapping[str, Any], what: str) -> list[Any]:
    """The sliders, bars or arrows in the cells of a scene's tables."""
    cells = [cell for row in rows_of(scene) for cell in row["cells"] if isinstance(cell, dict)]
    return [cell[what] for cell in cells if cell.get(what) is not None]


def said_in(scene: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A scene's words and numbers in the form in which a view's `said` gives them."""
    found: list[dict[str, Any]] = []
    for kind, what in parts_of(scene["parts"]):
        if kind == "table":
            rows = [
                [" ".join(filter(None, [row["name"], row.get("note")])), *map(text_of, row["cells"])]
                for row in what["rows"]
            ]
            found.append({"caption": what["caption"], "headings": what["headings"], "rows": rows})
        elif kind in ("terms", "note"):
            found.append({kind: what})
    return found


def text_of(cell: Any) -> str:
    return cell if isinstance(cell, str) else cell["text"]


def words_of(scene: Mapping[str, Any]) -> list[str]:
    """Every word of a scene, those of its pictures, boxes and buttons too, in the order in which it is drawn."""
    found: list[str] = []
    for kind, what in parts_of(scene["parts"]):
        if kind == "table":
            found += [what["caption"], *what["headings"]]
            for row in what["rows"]:
                found += [row["name"], row.get("note") or "", *map(text_of, row["cells"])]
        elif kind == "terms":
            found += itertools.chain(*what)
        elif kind == "picture":
            found += [str(mark["label"]) for mark in what["marks"] if "label" in mark]
        elif kind == "note":
            found.append(what)
        else:
            found += [*(one["name"] for one in what["all"]), what.get("note") or what.get("text") or ""]
    return [text for text in found if text]


def names_of(scene: Mapping[str, Any]) -> list[list[str]]:
    """What has a name that is said and not painted, and that name, in the order in which it is drawn."""
    found = [["group", scene["name"]]]
    for kind, what in parts_of(scene["parts"]):
        if kind == "picture":
            found.append(["img", what["name"]])
        elif kind == "table":
            cells = [cell for row in what["rows"] for cell in row["cells"] if isinstance(cell, dict)]
            found += [["input", cell["slider"]["name"]] for cell in cells if "slider" in cell]
    return found


def flags_of(scene: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What a scene says of how a mark looks, by kind: marks with the same flags look alike, others do not."""
    marks = [mark for picture in all_of(scene, "picture") for mark in picture["marks"]]
    rows = [([bool(row.get("best")), bool(row.get("cut"))], row["cells"]) for row in rows_of(scene)]
    cells = [(flags, cell if isinstance(cell, dict) else {}) for flags, row in rows for cell in row]
    return {
        "row": [flags for flags, _ in rows],
        "bar": [flags for flags, cell in cells if cell.get("bar") is not None],
        "cell": [bool(cell.get("marked")) for _, cell in cells if not {"bar", "slider"} & set(cell)],
        "array": [bool(one["dashed"]) for arrays in all_of(scene, "arrays") for one in arrays["all"]],
        "card": [bool(card["broken"]) for card in cards_of(scene)],
        "line": [mark["look"] for mark in marks if "line" in mark],
        "arrow": [mark["look"] for mark in marks if "arrow" in mark],
        "label": [bool(mark.get("bold")) for mark in marks if "label" in mark],
    }


# ---- what they must show

UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


def shows(text: str, value: float) -> bool:
    """Whether a text shows a number to the last digit that it has."""
    if text in ("nan", "inf", "-inf"):
        return np.array_equal(float(text), value, equal_nan=True)
    parts = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?(?:e([+-]?\d+))?)(?: (B|KiB|MiB|GiB|TiB))?", text)
    if not parts:
        return False
    number, places, power, unit = parts.groups()
    shown = float(number.replace(",", ""))
    if unit:
        return abs(shown * UNITS[unit] - value) <= 5.1e-4 * value
    last = 10.0 ** (int(power or 0) - len(places or "")) if places or power else 1e-4  # whole: counts are exact
    return bool(abs(shown - value) <= 0.5001 * last + 1e-12 * abs(value))


def written(value: Any) -> Any:
    """Equal to every text that shows the number; a text is itself."""
    return value if isinstance(value, str) else Written(float(value))


class Written:
    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, text: object) -> bool:
        return isinstance(text, str) and shows(text, self.value)

    def __repr__(self) -> str:
        return f"<{self.value}>"


def table(caption: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """A table by its columns, the first of which names the rows."""
    rows = [[name, *map(written, row)] for name, *row in zip(*columns.values(), strict=True)]
    return {"caption": caption, "headings": list(columns), "rows": rows}


def terms(pairs: Mapping[str, Any]) -> dict[str, Any]:
    return {"terms": [[term, written(value)] for term, value in pairs.items()]}


def noted(labels: list[str], notes: Mapping[int, str]) -> list[str]:
    return [f"{label} {notes[j]}" if j in notes else label for j, label in enumerate(labels)]


# Each gives what stands on the page in words and numbers, what is announced, which rows stand out, and every mark that
# is drawn: bars by their length, arrows on them from and to which fraction, arrows of a picture by their tips.


def probabilities(state: State) -> dict[str, Any]:
    z, labels, temperature = np.array(state["logits"]), state["labels"], state["temperature"]
    cut = lmhead.top_p(lmhead.top_k((z - z.max()) / temperature, state["top_k"]), state["top_p"])
    p, kept, best = lmhead.softmax(cut), np.isfinite(cut), int(lmhead.greedy(z))
    gone = np.flatnonzero(~kept).tolist()
    names = noted(labels, {best: "greedy"} | dict.fromkeys(gone, "cut"))
    return {
        "said": [table("From logits to probabilities", {"token": names, "logit": z, "probability": p})],
        "announced": ["most likely: ", labels[best], ", ", p[best], f"; {kept.sum()} kept"],
        "best": [best],
        "cut": gone,
        "bars": np.where(kept, p, lmhead.softmax(z, temperature=temperature)),
        "buttons": ["Draw a token"],
    }


def prompts(state: State) -> dict[str, Any]:
    at, vocab = state["prompt"], f"{state['vocab']:,}"
    top = np.array(state["top"][at])
    z = np.concatenate([top, np.frombuffer(state[f"tail_{at}"], "<f2").astype(float)])
    k, n = min(math.floor(state["top_k"] + 0.5), len(z)), len(top)
    cut = lmhead.top_p(lmhead.top_k(z / state["temperature"], k), state["top_p"])
    p, kept = lmhead.softmax(cut), np.isfinite(cut).sum()
    columns = {
        "token": [*noted(state["labels"][at], {0: "greedy"}), "all others"],
        "logit": [*(top + state["largest"][at]), ""],
        "probability": [*p[:n], p[n:].sum()],
    }
    caption = f"{state['prompts'][at]}: the most likely of {vocab} tokens"
    return {
        "said": [table(caption, columns), {"note": f"{kept:,} of {vocab} tokens kept"}],
        "announced": ["most likely: ", state["labels"][at][0], ", ", p[0], f"; {kept:,} kept"],
        "best": [0],
        "cut": list(range(kept, n)),
        "bars": p[:n] / p[0],
        "buttons": ["Draw a token"],
    }


def directions(state: State) -> dict[str, Any]:
    W_U, labels, angle = np.array(state["W_U"]), state["labels"], math.radians(state["angle"])
    h = state["length"] * np.array([math.cos(angle), math.sin(angle)])
    logit, lengths = lmhead.unembed(h, W_U), np.linalg.norm(W_U, axis=0)
    cosine = logit / lengths / np.linalg.norm(h)
    by_logit, by_cosine = int(logit.argmax()), int(cosine.argmax())
    note = f"highest logit: {labels[by_logit]}; best cosine: {labels[by_cosine]}. "
    agree, disagree = "Direction and logit agree.", "They disagree: the longer column wins the dot product."
    note += agree if by_logit == by_cosine else disagree
    columns = {"token": labels, "column length": lengths, "cosine with h": cosine, "logit": logit}
    return {
        "said": [table("h against the columns of W_U", columns), {"note": note}],
        "announced": [note],
        "best": [by_logit],
        "marked": [2 * by_cosine, 2 * by_logit + 1],  # cosine and logit are two cells of each row
        "tips": np.vstack([W_U.T, h]) * [1, -1],  # the second axis upwards, all by one scale
        "pictures": ["h and the columns of W_U as arrows from one point"],
        "looks": ["best" if j == by_logit else "column" for j in range(len(labels))] + ["h"],
    }


def loss(state: State) -> dict[str, Any]:
    z, target, labels = np.array(state["logits"]), state["target"], state["labels"]
    p, nats = lmhead.softmax(z), lmhead.cross_entropy(z, target)
    columns = {"token": noted(labels, {target: "target"}), "logit": z, "probability": p}
    costs = {"nats": nats, "bits": -np.log2(p[target]), "perplexity": 1 / p[target]}
    return {
        "said": [table("From logits to the loss of one target", columns), terms(costs)],
        "announced": ["p of ", labels[target], " ", p[target], ", loss ", nats, " nats"],
        "best": [target],
        "bars": p,
        "pictures": ["The curve of -log p, with a point at the target's probability"],
        "point": (p[target], nats),
    }


def gradient_step(state: State) -> dict[str, Any]:
    z, target, labels = np.array(state["logits"]), state["target"], state["labels"]
    p, gradient = lmhead.softmax(z), lmhead.cross_entropy_grad(z, target)
    nats, after = (float(lmhead.cross_entropy(z - lr * gradient, target)) for lr in (0, state["learning_rate"]))
    columns = {"token": noted(labels, {target: "target"}), "logit": z, "probability": p, "p - onehot": gradient}
    losses = {"loss now (nats)": nats, "after one more step": after, "steps": str(state["steps"])}
    return {
        "said": [table("The gradient of the loss, and one step against it", columns), terms(losses)],
        "announced": [f"step {state['steps']}: loss ", nats, " nats"],
        "best": [target],
        "bars": p,
        "buttons": ["Step", "Reset"],
        "pushes": np.column_stack([p, p - gradient]),  # to 1 for the target, to 0 for the others
    }


def overflow(state: State) -> dict[str, Any]:
    z, offset, exact = np.array(state["logits"]), state["offset"], lmhead.softmax(state["logits"])
    said: list[Any] = [{"note": f"Softmax of logits + {offset}, naive and shifted, in three formats"}]
    bars, broken = [], []
    for name in ("float16", "float32", "float64"):
        stored = (z + offset).astype(name)
        with np.errstate(over="ignore", invalid="ignore"):
            e, f = (np.exp(x.astype(float)).astype(name) for x in (stored, stored - stored.max()))
            total = np.add.accumulate(e)[-1]
            naive, shifted = e / total, f / np.add.accumulate(f)[-1]
        off, left = np.abs(naive - exact).max(), np.abs(shifted - exact).max()
        broken += [] if off <= 1e-3 else [name]
        bars += np.column_stack([naive, shifted]).ravel().tolist()
        why = ["The sum overflows: x / inf is 0, inf / inf is nan."] if total == np.inf else []
        why += ["Every exp is 0: 0 / 0 is nan."] if total == 0 else []
        why += [f"Off by up to {left:.4f}: the stored logits have lost digits."] if left > 1e-3 else []
        right = "Both forms are right." if off <= 1e-3 else "Only the shifted form is right."
        columns = {"token": state["labels"], "stored": stored, "naive": naive, "shifted": shifted}
        said += [table(name, columns), terms({"sum of exp": total}), {"note": " ".join(why) or right}]
    formats = "naive softmax breaks in " + ", ".join(broken) if broken else "no format is broken"
    return {"said": said, "announced": [formats], "best": [], "bars": bars, "broken": broken}


def shapes(state: State) -> dict[str, Any]:
    d, v, n, width = (state[key] for key in ("d_model", "vocab_size", "positions", "bytes_per_number"))
    sides = {"E": (v, d), "h": (n, d), "W_U": (d, v), "logits": (n, v)}
    counts = [a * b for a, b in sides.values()] + [(1 if state["tied"] else 2) * v * d]
    columns = {
        "array": ["E", state["words"]["h"], "W_U", "logits", "parameters"],
        "shape": [*(f"{a:,} × {b:,}" for a, b in sides.values()), ""],
        "numbers": [f"{count:,}" for count in counts],
        "memory": [width * count for count in counts],
    }
    if state["tied"]:
        columns["memory"][2] = "0 B, a view"
    a, b = np.array(list(sides.values()), float).T
    drawn = np.column_stack([np.sqrt(a * b) * (b / a) ** 0.125, np.sqrt(a * b) / (b / a) ** 0.125])
    return {
        "said": [table(f"The arrays of a head, {width} bytes per number", columns)],
        "announced": [f"W_U {v * d:,} numbers, ", width * v * d, f"; logits {n * v:,} numbers"],
        "best": [4],
        "names": columns["array"][:-1],
        "notes": ["Areas are to scale; the longer side is drawn shorter than it is."],
        "arrays": (150 * drawn / drawn.max()).ravel(),  # areas are as count to count
        "dashed": ["W_U"] if state["tied"] else [],
    }


def head_cost(state: State) -> dict[str, Any]:
    n, d, v, width = (state[key] for key in ("positions", "d_model", "vocab_size", "bytes_per_number"))
    share = math.ceil(v / state["devices"])
    rows = {
        "all logits": ("N V", n * v * width),
        "streaming buffer": ("N chunk", n * min(state["chunk"], v) * width),
        "W_U": ("d V", d * v * width),
        "W_U, each device": ("d ⌈V / devices⌉", d * share * width),
        "logits, each device": ("N ⌈V / devices⌉", n * share * width),
        "top, rest and z_y to exchange, 8 bytes each": ("3 N devices", 3 * n * state["devices"] * 8),
        "parts of dH to add up": ("N d devices", n * d * state["devices"] * width),
        "multiply-adds, forward": ("N d V", f"{n * d * v:,}"),
    }
    formulas, amounts = zip(*rows.values(), strict=True)
    columns = {"what": list(rows), "formula": formulas, "amount": amounts}
    return {
        "said": [table(f"One step of a head, {width} bytes per number", columns)],
        "announced": ["all logits ", amounts[0], ", streaming buffer ", amounts[1]],
        "best": [],
        "bars": np.array(amounts[:-1]) / max(amounts[0], amounts[2]),
    }


def training(state: State) -> dict[str, Any]:
    """Pair by pair: each is a hidden state (the one-hot row of what was read) and its target, met `often` times."""
    counts, labels, letter = np.array(state["counts"]), state["labels"], state["letter"]
    read, wanted = np.argwhere(counts > 0).T
    often = counts[read, wanted] / counts.sum()
    W_U, losses = np.zeros(counts.shape), []
    for step in range(state["step"] + 1):
        if step:
            G = often[:, None] * lmhead.cross_entropy_grad(W_U[read], wanted, reduction="sum")
            W_U = W_U - state["rate"] * (np.eye(len(labels))[read].T @ G)
        losses.append(often @ lmhead.cross_entropy(W_U[read], wanted, reduction="none"))
    p, shares = lmhead.softmax(W_U), counts / counts.sum(axis=1, keepdims=True)
    text = ""
    for u in state["draws"][state["seed"]]:
        token = int((np.cumsum(p[labels.index(text[-1]) if text else 0]) <= u).sum())
        if token == 0:
            break
        text += labels[token]
    best = sorted(range(len(labels)), key=lambda j: (-counts[letter, j], j))[:8]
    shown = {"probability": p[letter, best], "counted share": shares[letter, best]}
    floor = -often @ np.log(shares[read, wanted])
    costs = {"loss (nats)": losses[-1], "floor (nats)": floor, "it writes": text or labels[0]}
    columns = {"token": [labels[j] for j in best], **shown}
    return {
        "said": [table("A bigram head that learns: what comes next", columns), terms(costs)],
        "announced": [f"step {state['step']}: loss ", losses[-1], f", it writes {text or labels[0]}"],
        "best": [],
        "bars": np.column_stack([*shown.values()]).ravel(),
        "pictures": ["The loss from the first step to this one, above a line at the floor"],
        "falling": (losses, floor),
    }


WANTED = {
    "probabilities": probabilities,
    "prompts": prompts,
    "directions": directions,
    "loss": loss,
    "gradient_step": gradient_step,
    "overflow": overflow,
    "shapes": shapes,
    "head_cost": head_cost,
    "training": training,
}


def check(view: str, state: State, scene: Mapping[str, Any]) -> None:
    """Compare all that a scene holds, but for where its labels stand, with what the state asks for."""
    wanted = WANTED[view](state)
    said = said_in(scene)
    assert said == wanted["said"]
    assert scene["name"] == next(iter(said[0].values())), "a view is called as what stands above it"
    assert [picture["name"] for picture in all_of(scene, "picture")] == wanted.get("pictures", [])
    assert [one["name"] for buttons in all_of(scene, "buttons") for one in buttons["all"]] == wanted.get("buttons", [])
    assert spoken(scene["said"], wanted["announced"])
    rows = rows_of(scene)
    assert [j for j, row in enumerate(rows) if row.get("best")] == wanted["best"]
    assert [j for j, row in enumerate(rows) if row.get("cut")] == wanted.get("cut", [])
    marked = [cell["marked"] for row in rows for cell in row["cells"] if isinstance(cell, dict) and "marked" in cell]
    assert [j for j, yes in enumerate(marked) if yes] == sorted(wanted.get("marked", []))
    bars = np.clip(np.nan_to_num(np.asarray(wanted.get("bars", []), float)), 0, 1)  # none for a NaN
    assert cells_with(scene, "bar") == pytest.approx(bars.tolist(), rel=1e-3, abs=1e-6)
    assert np.ravel(cells_with(scene, "arrow")) == pytest.approx(np.ravel(wanted.get("pushes", [])), abs=1e-9)
    arrays = [one for arrays in all_of(scene, "arrays") for one in arrays["all"]]
    assert [one["name"] for one in arrays] == wanted.get("names", [])
    assert [arrays["note"] for arrays in all_of(scene, "arrays")] == wanted.get("notes", [])
    sides = [side for one in arrays for side in (one["width"], one["height"])]
    assert sides == pytest.approx(list(wanted.get("arrays", [])))
    assert [one["name"] for one in arrays if one["dashed"]] == wanted.get("dashed", [])
    assert [card["parts"][0]["table"]["caption"] for card in cards_of(scene) if card["broken"]] == wanted.get(
        "broken", []
    )
    check_sliders(state, cells_with(scene, "slider"))
    marks = [mark for picture in all_of(scene, "picture") for mark in picture["marks"]]
    if "tips" in wanted:
        scale = 120 / max(3, np.linalg.norm(wanted["tips"], axis=1).max())
        arrows = [mark for mark in marks if "arrow" in mark]
        assert np.ravel([mark["arrow"] for mark in arrows]) == pytest.approx(np.ravel(scale * wanted["tips"]), abs=1e-9)
        assert [mark["look"] for mark in arrows] == wanted["looks"]
        assert [mark["label"] for mark in marks if "label" in mark] == [*state["labels"], "h"]
    if "point" in wanted:
        check_curve(marks, *wanted["point"])
    if "falling" in wanted:
        check_falling(marks, *wanted["falling"])


def cards_of(scene: Mapping[str, Any]) -> list[Any]:
    return [card for part in scene["parts"] for card in part.get("cards", [])]


def spoken(text: str, pieces: list[Any]) -> bool:
    """Whether a text is these pieces; a number may be written in any way that shows it."""
    for piece in pieces:
        number = re.match(r"-?[\d,.]*\d(?:e[+-]?\d+)?(?: [KMGT]?i?B)?|nan|-?inf", text)
        if isinstance(piece, str):
            if not text.startswith(piece):
                return False
            text = text.removeprefix(piece)
        elif number and shows(number[0], piece):
            text = text[number.end() :]
        else:
            return False
    return text == ""


def check_sliders(state: State, sliders: list[Mapping[str, Any]]) -> None:
    """Those in a view set the logits: steps of 0.1 from -10 to 10 at least, on which the first value lies."""
    if sliders:
        assert [slider["name"] for slider in sliders] == [f"logit: {label}" for label in state["labels"]]
        assert [slider["value"] for slider in sliders] == state["logits"]
        reach = max(10, *(math.ceil(abs(z)) for z in state["start"]))
        for slider, first in zip(sliders, state["start"], strict=True):
            assert slider["step"] == 0.1 and slider["max"] == reach and -reach - 0.1 < slider["min"] <= -reach
            steps = (first - slider["min"]) / 0.1
            assert steps == pytest.approx(round(steps), abs=1e-6)


def check_falling(marks: list[Mapping[str, Any]], losses: list[float], floor: float) -> None:
    """The curve, its end and the line of the floor lie where the numbers beside the axes say."""
    start, low, first, last = [mark for mark in marks if "label" in mark]
    assert [shows(str(start["label"]), losses[0]), shows(str(low["label"]), floor)] == [True, True]
    assert (first["label"], last["label"]) == (0, 500)
    lines = {mark["look"]: np.array(mark["line"]) for mark in marks if "line" in mark}
    left, bottom = lines["axis"][1]
    per_nat = (low["at"][1] - start["at"][1]) / (losses[0] - floor)
    heights = low["at"][1] - per_nat * (np.minimum(losses, losses[0]) - floor)
    assert lines["curve"][:, 1] == pytest.approx(np.minimum(heights, bottom), abs=1e-6)
    assert lines["curve"][:, 0] == pytest.approx(left + np.arange(len(losses)) / 500 * (lines["axis"][2][0] - left))
    assert lines["drop"] == pytest.approx(np.array([[left, low["at"][1]], [lines["axis"][2][0], low["at"][1]]]))
    (point,) = [mark["point"] for mark in marks if "point" in mark]
    assert point == pytest.approx(lines["curve"][-1].tolist())


def check_curve(marks: list[Mapping[str, Any]], p: float, nats: float) -> None:
    """The point, the curve and the dropped lines lie where the numbers beside the axes say."""
    places = {(str(mark["label"]), mark.get("anchor", "middle")): mark["at"] for mark in marks if "label" in mark}
    assert [text for text, _ in places] == [
        *"0",
        "0.25",
        "0.5",
        "0.75",
        "1",
        *"012345",
        "p of the target",
        "-log p (nats)",
    ]
    left, right = (places[text, "middle"][0] for text in "01")
    bottom, top = (places[text, "end"][1] for text in "05")
    for tick in ("0.25", "0.5", "0.75"):
        assert places[tick, "middle"][0] == pytest.approx(left + float(tick) * (right - left))
    for tick in "1234":
        assert places[tick, "end"][1] == pytest.approx(bottom + int(tick) / 5 * (top - bottom))

    def at(p: Any, nats: Any) -> Any:
        return np.column_stack([left + p * (right - left), bottom + np.minimum(nats, 5) / 5 * (top - bottom)]).ravel()

    lines = {mark["look"]: np.ravel(mark["line"]) for mark in marks if "line" in mark}
    (point,) = [mark["point"] for mark in marks if "point" in mark]
    steps = np.linspace(0, 5, len(lines["curve"]) // 2)
    assert len(steps) >= 100 and lines["curve"] == pytest.approx(at(np.exp(-steps), steps))
    assert point == pytest.approx(at(np.array([p]), np.array([nats])))
    assert lines["drop"] == pytest.approx([point[0], bottom, *point, left, point[1]])
    assert lines["axis"][[0, 2, 3, 5]] == pytest.approx([left, left, bottom, bottom])
    assert lines["axis"][1] < top and lines["axis"][4] > right


def check_labels(labels: list[tuple[str, Any]], marks: list[Mapping[str, Any]]) -> None:
    """No label's box (left, top, right, bottom) lies on a line, an arrow, a point of radius 6, or on another label."""
    ring = np.array([[6 * math.cos(turn), 6 * math.sin(turn)] for turn in np.linspace(0, 2 * math.pi, 40)])
    dots = [along(mark["line"]) for mark in marks if "line" in mark]
    dots += [along([[0, 0], mark["arrow"]]) for mark in marks if "arrow" in mark]
    dots += [ring + mark["point"] for mark in marks if "point" in mark]
    x, y = np.concatenate(dots or [np.empty((0, 2))]).T
    for text, (left, top, right, bottom) in labels:
        assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any(), f"{text} lies on a line"
    for (one, a), (other, b) in itertools.combinations(labels, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], f"{one} lies on {other}"


def along(line: Any) -> Any:
    """Points of a line, at most half a unit apart."""
    corners = np.array(line, float)
    steps = itertools.pairwise(corners)
    return np.concatenate([corners, *(np.linspace(a, b, 2 + int(2 * np.hypot(*(b - a)))) for a, b in steps)])
