"""What the figures of chapter 11 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import min_p, softmax, top_p
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "11_choosing_a_token"
WORDS = ["mat", "rug", "sofa", "moon", "of"]
Z = np.array([2.5, 1.5, 0.5, 0.0, -2.0])


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


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


@pytest.mark.figure("fig-three-cuts")
def test_three_cuts_on_two_rows():
    ax = axes_of(CHAPTER)["fig-three-cuts"]
    fixture = load_fixture()
    texts = ["The cat sat on the", "The capital of France is"]
    gaps = [fixture.prompt(text, "text").gaps.astype(float) for text in texts]
    lines, marks = ax.get_lines()[:2], ax.get_lines()[2:]
    assert legend(ax) == [*texts, "top-k 50", "top-p 0.9", "min-p 0.05"]
    for line, row in zip(lines, gaps, strict=True):
        np.testing.assert_allclose(line.get_ydata(), softmax(row))
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 49_153))
    kept = [[50, np.isfinite(top_p(row, 0.9)).sum(), np.isfinite(min_p(row, 0.05)).sum()] for row in gaps]
    drawn = np.array([mark.get_xdata()[0] for mark in marks]).reshape(3, 2).T
    assert drawn.tolist() == np.array(kept).tolist()
    for mark, row in zip(marks, gaps * 3, strict=True):
        assert mark.get_ydata()[0] == pytest.approx(softmax(row)[int(mark.get_xdata()[0]) - 1])
    assert [mark.get_marker() for mark in marks] == ["o", "o", "s", "s", "^", "^"], "circle, square, triangle"
    assert (drawn[1, 1:] < drawn[0, 1:]).all(), "the capital's stand further left"
    assert ax.get_xscale() == ax.get_yscale() == "log"
