"""How much of a model with two V x d matrices one of them is, and whether the model stores one or two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def head_shares(names: Sequence[str], shares: ArrayLike, tied: Sequence[bool]) -> Axes:
    """One bar per model, first at the top, its share (0 to 1) in percent; untied ones hatched and in another colour."""
    percent = 100 * np.asarray(shares, float)
    ax = axes(height=0.6 + 0.32 * len(names))
    for y, (value, one) in enumerate(zip(percent, tied, strict=True)):
        if one:
            ax.barh(y, value, height=0.65, color=BLUE)
        else:
            ax.barh(y, value, height=0.65, facecolor="white", edgecolor=ORANGE, hatch="////")
        ax.annotate(
            f"{value:.1f} %, {'tied' if one else 'not tied'}",
            (value, y),
            (5, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.grid(axis="x")
    ax.set(xlim=(0, 1.3 * percent.max()), xlabel="the saving: one V x d matrix, in percent of the model with two")
    return ax
