"""What the figures of chapter 6 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import cross_entropy, softmax
from tests.support.ran import axes_of
from tools.chapters import alt_text


@pytest.mark.figure("fig-minus-log-p")
def test_the_curve_and_the_three_guesses_on_it():
    ax = axes_of("06_cross_entropy_by_hand")["fig-minus-log-p"]
    curve, points = ax.get_lines()
    p, loss = curve.get_data()
    assert np.allclose(loss, -np.log(p)) and p.min() == 0.01 and p.max() == 1.0
    z = [2.0, 1.0, 0.1]
    assert np.allclose(points.get_xdata(), softmax(z))
    assert np.allclose(points.get_ydata(), [cross_entropy(z, y) for y in range(3)])
    assert [text.get_text() for text in ax.texts] == ["cat 0.417", "dog 1.417", "fish 2.317"]
    assert [text.xy[0] for text in ax.texts] == pytest.approx(softmax(z))
    said = alt_text("06_cross_entropy_by_hand", "fig-minus-log-p")
    assert f"from above {np.floor(loss.max()):.0f} nats at p = {p.min()}" in said
    assert "through {2:.3f} for fish and {1:.3f} for dog to {0:.3f} for cat".format(*points.get_ydata()) in said
    assert said.endswith("reaches 0 at p = 1.") and loss[p.argmax()] == 0
    assert ax.get_xlabel() == "probability of the true word" and ax.get_ylabel() == "loss (nats)"
    assert ax.get_ylim()[0] == 0 and ax.get_ylim()[1] > loss.max()


@pytest.mark.figure("fig-average-price")
def test_the_average_price_is_lowest_where_the_bet_is_the_truth():
    ax = axes_of("06_cross_entropy_by_hand")["fig-average-price"]
    curve, level = ax.get_lines()
    bets, paid = curve.get_data()
    q = np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(paid, [-(q * np.log([b, (1 - b) / 2, (1 - b) / 2])).sum() for b in bets])
    entropy = -(q * np.log(q)).sum()
    np.testing.assert_allclose(level.get_ydata(), entropy)
    assert bets[paid.argmin()] == pytest.approx(0.5) and paid.min() == pytest.approx(entropy), "the caption: touches"
    assert (np.diff(paid[: paid.argmin() + 1]) < 0).all() and (np.diff(paid[paid.argmin() :]) > 0).all()
    said = alt_text("06_cross_entropy_by_hand", "fig-average-price")
    assert f"at a bet of 0.5 and a price of {entropy:.4f} nats" in said
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["average price", "entropy of q"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bet on cat", "nats")
