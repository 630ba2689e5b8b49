"""What the figures of chapter 5 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import softmax
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "05_logits_to_probabilities"
WORDS = ["mat", "rug", "sofa", "moon", "of"]
Z = np.array([2.5, 1.5, 0.5, 0.0, -2.0])


def heights(ax):
    return np.array([[bar.get_height() for bar in bars] for bars in ax.containers])


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.figure("fig-printed-example")
def test_the_printed_example_beside_softmax():
    ax = axes_of(CHAPTER)["fig-printed-example"]
    printed, computed = heights(ax)
    np.testing.assert_allclose(printed, [0.82, 0.04, 0.02, 0.12])
    np.testing.assert_allclose(computed, softmax([8.7, 1.2, 0.4, 7.18]))
    assert computed[0] == pytest.approx(0.82, abs=5e-4), "the caption: mat is right"
    assert computed[1:3].max() < 0.001, "and the bars of cat and dog are too low to see"
    assert [text.get_text() for text in ax.texts[:4]] == ["0.820", "0.040", "0.020", "0.120"]
    assert ticks(ax) == ["mat", "cat", "dog", "all others"]
    said = alt_text(CHAPTER, "fig-printed-example")
    assert "The printed probabilities are {:.2f}, {:.2f}, {:.2f} and {:.2f}.".format(*printed) in said
    assert "the same for mat, too small to see for cat and dog, and larger than printed for the others" in said
    assert computed[3] > printed[3]
    assert legend(ax) == ["printed", "softmax of the printed logits"]
    assert ax.get_ylabel() == "probability" and ax.get_ylim()[0] == 0


@pytest.mark.figure("fig-one-logit-moves-all")
def test_one_logit_moves_every_bar():
    ax = axes_of(CHAPTER)["fig-one-logit-moves-all"]
    before, after = heights(ax)
    np.testing.assert_allclose(before, softmax([2.0, 1.0, 0.1]))
    np.testing.assert_allclose(after, softmax([2.0, 1.0, 2.1]))
    ratio = after / before
    assert ratio[0] == pytest.approx(ratio[1]) and ratio[0] < 1 < ratio[2], "the caption: in proportion"
    assert ticks(ax) == ["cat", "dog", "fish"] and legend(ax) == ["before", "after"]
    said = alt_text(CHAPTER, "fig-one-logit-moves-all")
    moves = [f"{round(was, 4):g} to {round(now, 4):g}" for was, now in zip(before, after, strict=True)]
    assert "Cat falls from {}, dog from {}, fish rises from {}.".format(*moves) in said
    first, second = (bars[0].get_hatch() for bars in ax.containers)
    assert first != second, "told apart without colour"


@pytest.mark.figure("fig-temperature")
def test_probabilities_over_the_temperature():
    ax = axes_of(CHAPTER)["fig-temperature"]
    lines = ax.get_lines()
    assert [line.get_label() for line in lines] == WORDS == legend(ax)
    tau = lines[0].get_xdata()
    drawn = np.array([line.get_ydata() for line in lines])
    assert tau[0] == 0.1 and tau[-1] == 3.0
    np.testing.assert_allclose(drawn.T, [softmax(Z / t) for t in tau])
    assert (np.diff(drawn, axis=0) < 0).all(), "the caption: the curves never cross"
    assert drawn[0, 0] > 0.999 and np.ptp(drawn[:, -1]) < np.ptp(drawn[:, 0]), "and come together"
    said = alt_text(CHAPTER, "fig-temperature")
    assert said.startswith("Five curves") and f"from near 0 to {tau[-1]:.0f}." in said
    assert "At the left end mat is at 1 and all others at 0" in said and np.round(drawn[:, 0]).tolist() == [
        1,
        0,
        0,
        0,
        0,
    ]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("temperature", "probability")
