"""A tied matrix, drawn twice: as the embedding with a row for each token, and as the head with a column for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREY, ORANGE, axes

GAP = 2.2  # between the two grids, in cells
LIT, PALE = "#fbe9dc", "#f4f7f9"


def one_matrix(E: ArrayLike, labels: Sequence[str], *, token: int) -> Axes:
    """`E` `[V, d_model]` on the left, its transpose on the right; the row and the column of `token` are marked."""
    table = np.asarray(E, float)
    V, d_model = table.shape
    if len(labels) != V:
        raise ValueError(f"one label for each row of E {table.shape}; got {len(labels)}")
    ax = axes(height=3.2)
    right, top = d_model + GAP, -(V - d_model) / 2  # the head stands half way down
    for (i, k), number in np.ndenumerate(table):
        _cell(ax, k, -i, number, marked=i == token)
        _cell(ax, right + i, top - k, number, marked=i == token)
    for i, label in enumerate(labels):
        weight = "bold" if i == token else "normal"
        ax.text(-0.2, -i - 0.5, label, ha="right", va="center", fontweight=weight)
        ax.text(right + i + 0.5, top + 0.25, label, ha="center", va="bottom", fontweight=weight)
    ax.text(d_model / 2, 0.3, f"E  {V} × {d_model}", ha="center", va="bottom", color=BLUE)
    ax.text(right + V / 2, top - d_model - 0.3, f"W_U = E.T  {d_model} × {V}", ha="center", va="top", color=BLUE)
    ax.set_xlim(-1.1, right + V + 0.1)
    ax.set_ylim(-V - 0.2, 1.0)
    ax.set_axis_off()
    return ax


def _cell(ax: Axes, x: float, y: float, number: float, *, marked: bool) -> None:
    """A box with its upper left corner at (x, y)."""
    face, edge, width = (LIT, ORANGE, 1.6) if marked else (PALE, GREY, 0.6)
    box = Rectangle((x, y - 1), 1, 1, facecolor=face, edgecolor=edge, linewidth=width)
    ax.add_patch(box).set_zorder(2 if marked else 1)
    ax.text(x + 0.5, y - 0.5, f"{number:z.2f}", ha="center", va="center", fontsize=8, zorder=3)
