"""Probabilities from the most likely token down, and where a cut ends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import INK, axes

MARKERS = "os^Dv"


def ranked(series: Mapping[str, ArrayLike], cuts: Mapping[str, Mapping[str, int]]) -> Axes:
    """A line of p over the rank for each of `series` (name -> logits), both axes in powers of ten.

    `cuts` (cut -> name -> tokens kept) sets a marker on a line at the last token that the cut keeps, one shape per cut.
    """
    ax = axes(height=3.6)
    drawn = {}
    for name, logits in series.items():
        z = np.sort(np.asarray(logits, float))[::-1]
        p = np.exp(z - z[0])
        p /= p.sum()
        (line,) = ax.plot(np.arange(1, len(p) + 1), p, label=name)
        drawn[name] = (line, p)
    for marker, (cut, kept) in zip(MARKERS, cuts.items(), strict=False):
        for at, (name, count) in enumerate(kept.items()):
            line, p = drawn[name]
            label = cut if at == 0 else "_" + cut
            color = line.get_color()
            ax.plot([count], [p[count - 1]], marker, label=label, color=color, markeredgecolor=INK, markersize=8)
    ax.set(xscale="log", yscale="log", ylim=(1e-7, 1.5))
    ax.set(xlabel="rank, from the most likely token", ylabel="probability")
    ax.legend()
    return ax
