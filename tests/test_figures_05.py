"""What the figures of chapter 5 draw, read back from their Axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmhead import plots, softmax

WORDS = ["mat", "rug", "sofa", "moon", "of"]
Z = np.array([2.5, 1.5, 0.5, 0.0, -2.0])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def heights(ax):
    return [[bar.get_height() for bar in bars] for bars in ax.containers]


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_printed_example_beside_softmax():
    names = ["mat", "cat", "dog", "all others"]
    printed = [0.82, 0.04, 0.02, 0.12]
    given = softmax([8.7, 1.2, 0.4, 7.18])
    ax = plots.paired_bars(names, {"printed": printed, "softmax of the printed logits": given}, ylabel="probability")

    assert heights(ax) == [printed, pytest.approx(given, rel=1e-12)]
    assert given[0] == pytest.approx(0.82, abs=5e-4)  # the caption: mat is right,
    assert max(given[1:3]) < 0.001 < 0.02  # cat and dog cannot be
    assert [text.get_text() for text in ax.texts[:4]] == ["0.820", "0.040", "0.020", "0.120"]
    assert ticks(ax) == names and legend(ax) == ["printed", "softmax of the printed logits"]
    assert ax.get_ylabel() == "probability" and ax.get_ylim()[0] == 0


def test_one_logit_moves_every_bar():
    before, after = softmax([2.0, 1.0, 0.1]), softmax([2.0, 1.0, 2.1])
    ax = plots.paired_bars(["cat", "dog", "fish"], {"before": before, "after": after}, ylabel="probability")

    drawn_before, drawn_after = np.array(heights(ax))
    np.testing.assert_allclose(drawn_before, before)
    np.testing.assert_allclose(drawn_after, after)
    lost = drawn_after[:2] / drawn_before[:2]
    assert lost[0] == pytest.approx(lost[1]) and lost[0] < 1 < drawn_after[2] / drawn_before[2]
    assert ticks(ax) == ["cat", "dog", "fish"] and legend(ax) == ["before", "after"]


def test_the_two_series_are_told_apart_without_colour():
    ax = plots.paired_bars(WORDS, {"before": softmax(Z), "after": softmax(Z / 2)}, ylabel="probability")
    first, second = (bars[0].get_hatch() for bars in ax.containers)
    assert first != second


def test_probabilities_over_the_temperature():
    T = np.linspace(0.1, 3.0, 59)
    p_of_T = np.array([softmax(Z, temperature=t) for t in T])
    series = {word: p_of_T[:, j] for j, word in enumerate(WORDS)}
    ax = plots.curves(T, series, xlabel="temperature", ylabel="probability")

    lines = {line.get_label(): line for line in ax.lines}
    assert list(lines) == WORDS == legend(ax)
    drawn = np.array([lines[word].get_ydata() for word in WORDS])
    np.testing.assert_array_equal(lines["mat"].get_xdata(), T)
    np.testing.assert_allclose(drawn.sum(axis=0), 1.0)
    assert (np.diff(drawn, axis=0) < 0).all()  # the caption: they never cross
    assert drawn[0, 0] > 0.999 and (np.diff(drawn[0]) < 0).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("temperature", "probability")
