"""A W_U with d_model 2, its columns drawn as arrows from one point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREY, INK, ORANGE, axes


def column_arrows(W_U: ArrayLike, labels: Sequence[str], h: ArrayLike | None = None) -> Axes:
    """One arrow per column of W_U `[2, vocab]`, named at its tip, and a hidden state `[2]` in the accent colour."""
    tips = np.asarray(W_U, float)
    names, colors = list(labels), [BLUE] * tips.shape[1]
    if h is not None:  # first, so that a column in the same direction lies on top of it
        tips = np.column_stack([np.asarray(h, float), tips])
        names, colors = ["h", *names], [ORANGE, *colors]
    ax = axes(5.2, 4.2)
    ax.quiver(*np.zeros_like(tips), *tips, color=colors, angles="xy", scale_units="xy", scale=1, width=0.009, zorder=3)
    for name, color, tip in zip(names, colors, tips.T, strict=True):
        along = tip / np.linalg.norm(tip)
        beside = np.array([along[1], -along[0]])
        ax.annotate(
            name,
            tip,
            xytext=6 * along + (17, 10) * beside,
            textcoords="offset points",
            ha="center",
            va="center",
            color=color,
        )
    reach = 1.2 * np.abs(tips).max()
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="dimension 0", ylabel="dimension 1")
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.grid(axis="x")
    ax.tick_params(colors=INK)
    return ax
