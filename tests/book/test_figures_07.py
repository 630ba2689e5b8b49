"""What the figures of chapter 7 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import cross_entropy_grad, softmax
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "07_training_the_head"


@pytest.mark.figure("fig-gradient")
def test_the_bars_are_probability_minus_truth():
    ax = axes_of(CHAPTER)["fig-gradient"]
    expected = softmax([2.0, 1.0, 0.1]) - [0, 0, 1]
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(expected)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["cat", "dog", "fish"]
    assert [text.get_text() for text in ax.texts] == ["0.659", "0.242", "-0.901"]
    assert "is 0.659 for cat, 0.242 for dog, and minus 0.901 for fish, the truth." in alt_text(CHAPTER, "fig-gradient")
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[0] == colors[1] != colors[2]  # the truth stands out
    assert ax.get_ylabel() == "dL/dz" and ax.get_ylim()[0] < expected[2] < expected[0] < ax.get_ylim()[1]


@pytest.mark.figure("fig-head-gradients")
def test_both_products_stand_beside_the_gradient_that_they_share():
    ax = axes_of(CHAPTER)["fig-head-gradients"]
    H = np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0]])
    W_U = np.array([[1.0, -1.0, 0.5, 0.0], [0.5, 1.0, -1.0, 2.0]])
    G = cross_entropy_grad(H @ W_U, [1, 3, 0])
    titles = ["$dH = G\\,W_U^{\\top}$", "$dW_U = H^{\\top} G$"]
    names = ["$W_U^{\\top}$", "$G$", "$dH$", "$H^{\\top}$", "$dW_U$"]
    said = [text.get_text() for text in ax.texts]
    assert [text for text in said if text.startswith("$")] == [*names, *titles]
    numbers = [float(text) for text in said if not text.startswith("$")]
    shown = [W_U.T, G, G @ W_U.T, H.T, H.T @ G]
    assert numbers == pytest.approx(np.concatenate([array.ravel() for array in shown]), abs=0.0051)

    corner = {cell.get_xy(): cell for cell in ax.patches}
    assert len(corner) == len(ax.patches) == len(numbers), "each number in a cell of its own"
    at = {name: next(t.get_position() for t in ax.texts if t.get_text() == name) for name in names}
    assert at["$G$"][0] == at["$dW_U$"][0] and at["$G$"][1] == at["$dH$"][1]  # down, and to the right
    assert at["$H^{\\top}$"][1] == at["$dW_U$"][1] and at["$W_U^{\\top}$"][0] == at["$dH$"][0]
    blue, orange = "#0072b2", "#c15400"
    edges = [_hex(cell.get_edgecolor()) for cell in ax.patches]
    # W_U^T whole, the last row of G and of dH; H^T whole, the first column of G and of dW_U
    assert edges.count(blue) == 8 + 4 + 2 and edges.count(orange) == 6 + 2 + 2


def _hex(color):
    return "#" + "".join(f"{round(255 * part):02x}" for part in color[:3])


@pytest.mark.figure("fig-head-training")
def test_every_right_token_rises_from_one_quarter():
    ax = axes_of(CHAPTER)["fig-head-training"]
    lines = ax.get_lines()
    assert [line.get_label() for line in lines] == [f"position {n}" for n in range(3)]
    for line in lines:
        steps, p = line.get_data()
        assert steps.tolist() == list(range(101))
        assert p[0] == pytest.approx(1 / 4) and p[-1] > 0.95
        assert (np.diff(p) > 0).all()
    assert np.argmax([line.get_ydata()[5] for line in lines]) == 1, "the alt text: position 1 first"
    assert ax.get_xlabel() == "step" and ax.get_ylabel() == "p of the right token"
    assert len(ax.get_legend().get_texts()) == 3
    assert np.abs(lines[0].get_ydata() - lines[2].get_ydata())[10:].max() < 0.01, "the caption: they nearly coincide"


@pytest.mark.figure("fig-shift")
def test_above_each_token_stands_the_next_one():
    ax = axes_of(CHAPTER)["fig-shift"]
    tokens = ["The", "␣cat", "␣sat", "␣on", "␣the"]
    read = [next(t.get_text() for t in ax.texts if t.get_position() == (x, 0.35)) for x in range(5)]
    above = pytest.approx(1.95)
    predicted = [next(t.get_text() for t in ax.texts if t.get_position() == (x, above)) for x in range(5)]
    assert read == tokens and predicted == [*tokens[1:], "-100"]
    assert len(ax.patches) == 10
    labels = {"reads", "predicts", *(f"position {t}" for t in range(5))}
    assert labels <= {text.get_text() for text in ax.texts}
