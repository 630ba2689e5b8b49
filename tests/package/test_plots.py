"""What the figures refuse, in one line with the sizes at fault. What they draw is tested with their chapters."""

import re

import numpy as np
import pytest

from lmhead import plots

REFUSED = {
    "bars": (lambda: plots.bars(["a", "b"], [1.0], ylabel="p"), r"one number per label; got shape \(1,\) for 2 labels"),
    "paired bars, three series": (
        lambda: plots.paired_bars(["a"], {"x": [1.0], "y": [1.0], "z": [1.0]}, ylabel="p"),
        r"two series; got 3: \['x', 'y', 'z'\]",
    ),
    "paired bars, a short series": (
        lambda: plots.paired_bars(["a", "b"], {"x": [1.0, 2.0], "y": [1.0]}, ylabel="p"),
        r"'y' must hold one number per label; got shape \(1,\) for 2 labels",
    ),
    "spans": (
        lambda: plots.spans(["a", "b"], [0.0, 0.0], [1.0], xlabel="MB"),
        r"one number per label; got \(2,\) and \(1,\)",
    ),
    "head gradients": (
        lambda: plots.head_gradients(np.ones((2, 3)), np.ones((3, 4)), np.ones((2, 5))),
        r"for H \(2, 3\); got W_U \(3, 4\), G \(2, 5\)",
    ),
    "one matrix": (
        lambda: plots.one_matrix(np.ones((3, 2)), ["a", "b"], token=0),
        r"one label for each row of E \(3, 2\); got 2",
    ),
    "shift": (lambda: plots.shift(["a"]), r"two tokens or more; got \['a'\]"),
    "unnamed curves": (
        lambda: plots.unnamed_curves({"A": [1.0, 2.0]}, floor=0.0, start=1.0),
        r"2 to 4 curves; got 1: \['A'\]",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what):
    drawing, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        drawing()


TINY = np.array([[-0.001, -0.0], [0.001, 0.0]])  # with two decimals all of them are 0

WRITTEN = {
    "head gradients": lambda: plots.head_gradients(TINY, TINY, TINY),
    "one matrix": lambda: plots.one_matrix(TINY, ["a", "b"], token=0),
    "product": lambda: plots.product(np.array([[-0.0, 1.0]]), np.array([[-0.0], [0.0]]), ["a"], position=0, token=0),
    "loss curve": lambda: plots.loss_curve([1.0], ["a"]),
    "merging": lambda: plots.merging([-0.0, -1.0], [-0.0, -2.0]),
    "memory lines": lambda: plots.memory_lines({"row by row": np.array([[-0.0], [1.0]])}, ["a", "b"]),
    "token losses": lambda: plots.token_losses(["a", "b"], [-0.0, 1.0]),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_no_zero_has_a_sign(what):
    ax = WRITTEN[what]()
    texts = [text.get_text() for text in (*ax.texts, *ax.get_xticklabels())]
    assert any(re.search(r"\b0(\.0+)?\b", text) for text in texts), texts
    assert [text for text in texts if re.search(r"[-−]0(\.0+)?(?![.\d])", text)] == []


# ---- a word stands at the mark that it names


def test_what_is_read_and_what_is_predicted_have_their_names_and_the_same_token_is_joined():
    ax = plots.shift(["a", "b", "c"])
    boxes = {
        (box.get_x(), box.get_y()): next(
            text.get_text()
            for text in ax.texts
            if box.get_x() < text.get_position()[0] < box.get_x() + box.get_width()
            and box.get_y() < text.get_position()[1] < box.get_y() + box.get_height()
        )
        for box in ax.patches
    }
    for name, row in {"reads": ["a", "b", "c"], "predicts": ["b", "c", "-100"]}.items():
        (height,) = (text.get_position()[1] for text in ax.texts if text.get_text() == name)
        assert [said for (_, y), said in sorted(boxes.items()) if y < height < y + 0.7] == row

    def token_at(x: float, y: float) -> str:
        near = min(boxes, key=lambda corner: abs(corner[0] + 0.43 - x) + abs(corner[1] + 0.35 - y))
        return boxes[near]

    dotted = [
        text for text in ax.texts if getattr(text, "arrow_patch", None) and text.arrow_patch.get_linestyle() == ":"
    ]
    assert [(token_at(*line.xyann), token_at(*line.xy)) for line in dotted] == [("b", "b"), ("c", "c")]


def test_each_line_across_has_its_own_name():
    ax = plots.unnamed_curves({"A": np.linspace(3, 1, 50), "B": np.linspace(3, 2, 50)}, floor=0.5, start=3.5)
    names = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert (names["floor"], names["log V"]) == (0.5, 3.5)
    across = [line.get_ydata() for line in ax.lines if line.get_linestyle() == ":"]
    assert np.ptp(across, axis=1).max() == 0 and np.sort(np.array(across)[:, 0]).tolist() == [0.5, 3.5]
