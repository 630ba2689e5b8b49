"""The price of a guess, -log p, with the guesses marked on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.curves import curves
from lmhead.plots.style import ORANGE


def loss_curve(p: ArrayLike, labels: Sequence[str]) -> Axes:
    """The curve -log p in nats, and a labelled point on it for each probability in `p`."""
    points = np.asarray(p, float)
    grid = np.linspace(0.01, 1.0, 200)
    ax = curves(grid, {"loss": -np.log(grid)}, xlabel="probability of the true word", ylabel="loss (nats)")
    ax.plot(points, -np.log(points), "o", color=ORANGE, markersize=7)
    for x, label in zip(points, labels, strict=True):
        ax.annotate(f"{label} {-np.log(x):z.3f}", (x, -np.log(x)), xytext=(8, 6), textcoords="offset points")
    ax.set_xlim(0, 1.02)
    ax.set_ylim(bottom=0)
    return ax
