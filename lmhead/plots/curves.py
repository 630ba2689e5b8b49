"""One line a series over a shared x."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import axes


def curves(x: ArrayLike, series: Mapping[str, ArrayLike], *, xlabel: str, ylabel: str, ax: Axes | None = None) -> Axes:
    """Lines of `series` (name -> values) over `x`; a legend where there is more than one."""
    ax = axes() if ax is None else ax
    for name, values in series.items():
        ax.plot(x, values, label=name)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if len(series) > 1:
        ax.legend()
    return ax
