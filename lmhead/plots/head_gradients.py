"""The two products of the head's gradients in one picture, every number in its place."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREY, ORANGE, axes

GAP = 1.1  # between two matrices, in cells
LIT = {BLUE: "#dcebf6", ORANGE: "#fbe9dc"}
PALE = "#f4f7f9"


def head_gradients(H: ArrayLike, W_U: ArrayLike, G: ArrayLike) -> Axes:
    """`G` `[N, V]` in the middle, below it `dW_U = H^T G` beside `H^T`, right of it `dH = G W_U^T` below `W_U^T`.

    One column of `dW_U` and what makes it are marked in one colour, one row of `dH` in the other. Numbers have two
    decimals.
    """
    H, W_U, G = (np.asarray(array, float) for array in (H, W_U, G))
    (N, d_model), vocab = H.shape, G.shape[-1]
    if W_U.shape != (d_model, vocab) or G.shape != (N, vocab):
        raise ValueError(
            f"W_U must be [d_model, vocab] and G [N, vocab] for H {H.shape}; got W_U {W_U.shape}, G {G.shape}"
        )
    ax = axes(height=4.6)
    left, right = N + GAP, N + vocab + 2 * GAP  # where G and dH begin
    top, low = -vocab - GAP, -vocab - N - 2 * GAP  # where G and dW_U begin, the upper edge being 0
    row, column = N - 1, 0  # of G: the ones that are marked
    _matrix(ax, "W_U^T", W_U.T, right, 0.0, rows=range(vocab), color=BLUE)
    _matrix(ax, "G", G, left, top, rows=[row], columns=[column])
    _matrix(ax, "dH", G @ W_U.T, right, top, rows=[row])
    _matrix(ax, "H^T", H.T, 0.0, low, columns=range(N))
    _matrix(ax, "dW_U", H.T @ G, left, low, columns=[column])
    for y, color, said in ((-1.0, BLUE, "$dH = G\\,W_U^{\\top}$"), (-2.4, ORANGE, "$dW_U = H^{\\top} G$")):
        ax.text(0.0, y, said, color=color, fontsize=12, va="center")
    ax.set_xlim(-0.1, right + d_model + 0.1)
    ax.set_ylim(low - d_model - 0.2, 0.8)
    ax.set_axis_off()
    return ax


def _matrix(
    ax: Axes,
    name: str,
    numbers: np.ndarray,
    x: float,
    y: float,
    rows: range | list[int] = range(0),
    columns: range | list[int] = range(0),
    color: str = ORANGE,
) -> None:
    """A grid of numbers with its upper left corner at (x, y) and its name above; `rows` are blue, `columns` orange."""
    for (i, j), number in np.ndenumerate(numbers):
        mark = BLUE if i in rows else ORANGE if j in columns else None
        cell = Rectangle((x + j, y - i - 1), 1, 1, facecolor=LIT.get(mark or "", PALE), edgecolor=mark or GREY)
        cell.set_linewidth(1.5 if mark else 0.6)
        ax.add_patch(cell).set_zorder(2 if mark else 1)
        ax.text(x + j + 0.5, y - i - 0.5, f"{number:z.2f}", ha="center", va="center", fontsize=9, zorder=3)
    label = {"W_U^T": "$W_U^{\\top}$", "H^T": "$H^{\\top}$", "dW_U": "$dW_U$", "dH": "$dH$", "G": "$G$"}[name]
    ax.text(x + numbers.shape[1] / 2, y + 0.15, label, ha="center", va="bottom")
