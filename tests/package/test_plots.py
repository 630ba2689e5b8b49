"""What the figures refuse, in one line with the sizes at fault. What they draw is tested with their chapters."""

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
