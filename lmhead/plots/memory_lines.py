"""A matrix as memory holds it: one long line of numbers, in which the numbers of one token stand together or apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PINK, axes

DEEP = 2.6  # from one line to the next, in cells


def memory_lines(matrices: Mapping[str, ArrayLike], labels: Sequence[str], cuts: Sequence[int] = ()) -> Axes:
    """The numbers of each matrix in the order of memory, its name above, each number's token below and by colour.

    A matrix is `[vocab, d_model]` or `[d_model, vocab]`: the axis as long as `labels` is that of the tokens.
    A thick stroke goes through every line after as many numbers as each of `cuts` says.
    """
    colors = [BLUE, ORANGE, GREEN, PINK, INK]
    if len(labels) > len(colors):
        raise ValueError(f"memory_lines has {len(colors)} colours, one for each token; got {len(labels)} labels")
    ax = axes(height=1.25 * len(matrices))
    longest = 0
    for at, (name, matrix) in enumerate(matrices.items()):
        numbers = np.asarray(matrix, float)
        if numbers.ndim != 2 or (np.array(numbers.shape) == len(labels)).sum() != 1:
            raise ValueError(f"one axis of {name!r} must have {len(labels)} tokens, the other not; got {numbers.shape}")
        tokens = np.indices(numbers.shape)[numbers.shape.index(len(labels))]
        ax.text(0, -DEEP * at + 0.3, name, ha="left", va="bottom", fontweight="bold")
        for x, (number, token) in enumerate(zip(numbers.flat, tokens.flat, strict=True)):
            _cell(ax, x, -DEEP * at, f"{number:zg}", labels[token], colors[token])
        ax.vlines(list(cuts), -DEEP * at - 1.5, -DEEP * at + 0.2, color=INK, linewidth=3)
        longest = max(longest, numbers.size)
    ax.set_xlim(-0.1, longest + 0.1)
    ax.set_ylim(-DEEP * (len(matrices) - 1) - 1.6, 1.1)
    ax.set_axis_off()
    return ax


def _cell(ax: Axes, x: float, top: float, number: str, label: str, color: str) -> None:
    ax.add_patch(Rectangle((x, top - 1), 1, 1, facecolor="white", edgecolor=GREY, linewidth=0.6))
    ax.add_patch(Rectangle((x, top - 1), 1, 0.12, facecolor=color, linewidth=0))
    ax.text(x + 0.5, top - 0.45, number, ha="center", va="center")
    ax.text(x + 0.5, top - 1.12, label, ha="center", va="top", fontsize=8.5, color=color)
