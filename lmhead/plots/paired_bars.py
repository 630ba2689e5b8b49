"""Two series side by side: one pair of bars for each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def paired_bars(
    labels: Sequence[str], series: Mapping[str, ArrayLike], *, ylabel: str, digits: int = 3, ax: Axes | None = None
) -> Axes:
    """Two bars per label, one of each of two `series` (name -> values), told apart by hatching as well as colour."""
    if len(series) != 2:
        raise ValueError(f"paired_bars draws two series; got {len(series)}: {list(series)}")
    ax = axes(height=3.4) if ax is None else ax
    looks: tuple[dict[str, Any], ...] = ({"color": BLUE}, {"facecolor": "white", "edgecolor": ORANGE, "hatch": "////"})
    for (name, values), side, look in zip(series.items(), (-0.5, 0.5), looks, strict=True):
        heights = np.asarray(values, float)
        if heights.shape != (len(labels),):
            raise ValueError(
                f"{name!r} must hold one number per label; got shape {heights.shape} for {len(labels)} labels"
            )
        drawn = ax.bar(np.arange(len(labels)) + 0.4 * side, heights, width=0.38, label=name, **look)
        ax.bar_label(drawn, labels=[f"{v:.{digits}f}" for v in heights], padding=2, fontsize=7.5)
    ax.set_xticks(range(len(labels)), labels)
    ax.set_ylabel(ylabel)
    ax.margins(y=0.12)
    ax.legend()
    return ax
