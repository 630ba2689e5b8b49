"""A matrix product with every number in its place: the two factors, and the result where their lines meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREY, ORANGE, axes

GAP = 1.0  # between two matrices, in cells
LIT, PALE = "#fbe9dc", "#f4f7f9"


def product(H: ArrayLike, W_U: ArrayLike, labels: Sequence[str], *, position: int, token: int) -> Axes:
    """`H` `[positions, d_model]` left of the logits, `W_U` `[d_model, vocab]` above them, one label for each column.

    The row `position`, the column `token` and the logit that they make are marked.
    """
    H, W_U = np.asarray(H, float), np.asarray(W_U, float)
    positions, d_model = H.shape
    vocab = W_U.shape[1]
    if W_U.shape != (d_model, len(labels)):
        raise ValueError(
            f"W_U must be [{d_model}, {len(labels)}] for H {H.shape} and {len(labels)} labels; got {W_U.shape}"
        )
    ax = axes(height=3.4)
    right, low = d_model + GAP, -d_model - GAP  # where the logits begin: below W_U, right of H
    _matrix(ax, W_U, right, 0.0, lit=[(i, token) for i in range(d_model)])
    _matrix(ax, H, 0.0, low, lit=[(position, i) for i in range(d_model)])
    _matrix(ax, H @ W_U, right, low, lit=[(position, token)])
    for j, label in enumerate(labels):
        ax.text(right + j + 0.5, 0.3, label, ha="center", va="bottom", fontweight="bold" if j == token else "normal")
    ax.text(d_model / 2, low + 0.25, f"H  {positions} × {d_model}", ha="center", va="bottom", color=BLUE)
    ax.text(right - 0.3, -d_model / 2, f"W_U  {d_model} × {vocab}", ha="right", va="center", color=BLUE)
    ax.text(
        right + vocab / 2, low - positions - 0.3, f"logits  {positions} × {vocab}", ha="center", va="top", color=BLUE
    )
    ax.set_xlim(-0.2, right + vocab + 0.2)
    ax.set_ylim(low - positions - 1.0, 1.0)
    ax.set_axis_off()
    return ax


def _matrix(ax: Axes, numbers: np.ndarray, x: float, y: float, lit: list[tuple[int, int]]) -> None:
    """A grid of numbers with its upper left corner at (x, y), the cells `lit` marked."""
    for (i, j), number in np.ndenumerate(numbers):
        marked = (i, j) in lit
        face, edge = (LIT, ORANGE) if marked else (PALE, GREY)
        cell = Rectangle((x + j, y - i - 1), 1, 1, facecolor=face, edgecolor=edge, linewidth=1.6 if marked else 0.6)
        ax.add_patch(cell).set_zorder(2 if marked else 1)
        weight = "bold" if marked else "normal"
        ax.text(x + j + 0.5, y - i - 0.5, f"{number:zg}", ha="center", va="center", fontweight=weight, zorder=3)
