"""Lines on an axis of powers of ten."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.curves import curves


def log_curves(x: ArrayLike, series: Mapping[str, ArrayLike], *, xlabel: str, ylabel: str) -> Axes:
    """Lines of `series` (name -> values) over `x`; y in powers of ten, where a value of 0 has no place and is left out.

    The first line is broad and pale, so that the later ones can be seen to lie on it; they are marked point by point.
    """
    shown = {name: np.where(np.asarray(values) > 0, values, np.nan) for name, values in series.items()}
    ax = curves(x, shown, xlabel=xlabel, ylabel=ylabel)
    first, *others = ax.get_lines()
    first.set(linewidth=6, alpha=0.4)
    for line in others:
        line.set(marker="o", markersize=3, linewidth=1)
    ax.set_yscale("log")
    ax.legend()
    return ax
