"""The two factors of a logit that belong to the token: its column's length, and its cosine with h."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREY, ORANGE, axes


def length_and_cosine(lengths: ArrayLike, cosines: ArrayLike, marked: Mapping[str, int]) -> Axes:
    """One point per column, the `marked` (name -> index) named; through each of those a dashed line of equal logit."""
    x, y = np.asarray(lengths, float), np.asarray(cosines, float)
    ax = axes(6.4, 3.6)
    ax.plot(x, y, "o", color=BLUE, markersize=4, alpha=0.6)
    grid = np.linspace(0.9 * x.min(), 1.02 * x.max(), 200)
    for name, j in marked.items():
        ax.plot(grid, x[j] * y[j] / grid, "--", color=GREY, linewidth=1.2)
        ax.plot(x[j], y[j], "o", color=ORANGE, markersize=7)
        white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        ax.annotate(name, (x[j], y[j]), xytext=(8, 5), textcoords="offset points", bbox=white)
    ax.set(xlim=(grid[0], grid[-1]), ylim=(min(0, 1.1 * y.min()), 1.35 * y.max()))
    ax.set(xlabel="length of the column", ylabel="cosine with h")
    return ax
