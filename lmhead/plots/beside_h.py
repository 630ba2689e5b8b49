"""A hidden state and other vectors of its space, to scale."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def beside_h(h: ArrayLike, rows: ArrayLike, label: str) -> Axes:
    """The arrow h `[d]`, and a point per row `[n, d]`: rightwards its part along h, upwards the length of the rest."""
    h, rows = np.asarray(h, float), np.asarray(rows, float)
    length = np.linalg.norm(h).round(4)  # rounded: the same picture on every processor
    along = (rows @ h / length).round(4)
    rest = np.sqrt(np.sum(rows**2, axis=1) - along**2).round(4)

    ax = axes(6.4, 1.7)
    ax.quiver(0, 0, length, 0, color=ORANGE, angles="xy", scale_units="xy", scale=1, width=0.006)
    ax.plot(along, rest, "o", color=BLUE, markersize=3, alpha=0.5)
    ax.annotate("h", (length, 0), xytext=(0, 8), textcoords="offset points", ha="right", color=ORANGE)
    ax.annotate(label, (along.max(), rest.max()), xytext=(8, -4), textcoords="offset points", color=BLUE)
    ax.set(xlim=(-2, 1.03 * length), ylim=(-0.5, 1.1 * rest.max()), aspect="equal")
    ax.set(xlabel="along h", ylabel="at a right angle")
    return ax
