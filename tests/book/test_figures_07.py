"""What the figures of chapter 7 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import softmax
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


@pytest.mark.figure("fig-head-training")
def test_every_right_token_rises_from_one_sixth():
    ax = axes_of(CHAPTER)["fig-head-training"]
    lines = ax.get_lines()
    assert [line.get_label() for line in lines] == [f"position {n}" for n in range(5)]
    for line in lines:
        steps, p = line.get_data()
        assert steps.tolist() == list(range(201))
        assert p[0] == pytest.approx(1 / 6) and p[-1] > 0.85
        assert (np.diff(p[-50:]) > 0).all()
    assert ax.get_xlabel() == "step" and ax.get_ylabel() == "p of the right token"
    assert len(ax.get_legend().get_texts()) == 5
