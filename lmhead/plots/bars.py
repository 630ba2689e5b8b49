"""One bar for each token, with its number written on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def bars(
    labels: Sequence[str],
    values: ArrayLike,
    *,
    ylabel: str,
    highlight: int | None = None,
    digits: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Bars of `values`, one for each label, each with its value on top; the bar `highlight` in the accent colour."""
    heights = np.asarray(values, float)
    if heights.shape != (len(labels),):
        raise ValueError(f"values must hold one number per label; got shape {heights.shape} for {len(labels)} labels")
    ax = axes() if ax is None else ax
    colors = [ORANGE if i == highlight else BLUE for i in range(len(labels))]
    drawn = ax.bar(range(len(labels)), heights, color=colors, width=0.65)
    ax.bar_label(drawn, labels=[f"{v:.{digits}f}" for v in heights], padding=2)
    ax.set_xticks(range(len(labels)), labels)
    ax.set_ylabel(ylabel)
    ax.margins(y=0.15)
    return ax
