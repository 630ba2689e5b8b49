"""One horizontal bar per label, from a low end to a high one, on a shared axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, axes


def spans(labels: Sequence[str], low: ArrayLike, high: ArrayLike, *, xlabel: str, digits: int = 1) -> Axes:
    """A bar from `low` to `high` for every label, the first on top, each with its two ends written beside it."""
    left, right = np.asarray(low, float), np.asarray(high, float)
    if left.shape != (len(labels),) or right.shape != (len(labels),):
        raise ValueError(f"low and high must hold one number per label; got {left.shape} and {right.shape}")
    ax = axes(height=2.2)
    rows = np.arange(len(labels))
    ax.barh(rows, right - left, left=left, height=0.5, color=BLUE)
    for row, start, end in zip(rows, left, right, strict=True):
        ax.annotate(
            f"{start:.{digits}f}", (start, row), xytext=(-5, 0), textcoords="offset points", ha="right", va="center"
        )
        ax.annotate(f"{end:.{digits}f}", (end, row), xytext=(5, 0), textcoords="offset points", va="center")
    ax.set_yticks(rows, labels)
    ax.invert_yaxis()
    ax.use_sticky_edges = False  # else a bar that starts at an edge gets no margin there
    ax.margins(x=0.2)  # room for the numbers beside the longest bar
    ax.grid(visible=False, axis="y")
    ax.set_xlabel(xlabel)
    return ax
