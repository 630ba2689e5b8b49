"""What the figure of chapter 6 shows, read from the Axes that its cell draws."""

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
