"""Loss curves for a reader to name: each carries a letter, and nothing says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import GREY, axes

LOOKS: tuple[Any, ...] = ("-", "--", "-.", (0, (6, 1, 1, 1, 1, 1)))  # told apart without colour


def unnamed_curves(series: Mapping[str, ArrayLike], *, floor: float, start: float, most: float = 6.5) -> Axes:
    """The losses of `series` (letter -> a loss for each step), each letter where its curve is furthest from the others.

    No letter covers one before it. Dotted lines mark the `floor` of the right run and the loss at the `start` of one
    whose weights are 0; nothing above `most` nats is shown.
    """
    if not 2 <= len(series) <= len(LOOKS):
        raise ValueError(f"unnamed_curves draws 2 to {len(LOOKS)} curves; got {len(series)}: {list(series)}")
    ax = axes(height=3.8)
    losses = np.stack([np.asarray(values, float) for values in series.values()])
    steps = np.arange(losses.shape[1])
    for k, (letter, look) in enumerate(zip(series, LOOKS, strict=False)):
        (line,) = ax.plot(losses[k], linestyle=look, label=letter)
        away = np.abs(np.delete(losses, k, axis=0) - losses[k]).min(axis=0)
        away[(steps < 5) | (losses[k] >= most - 0.3)] = 0
        for text in ax.texts:  # a letter covers no other
            there, height = text.get_position()
            away[np.hypot((steps - there) / steps[-1], (losses[k] - height) / most) < 0.12] = 0
        step = int(np.argmax(away))
        ax.text(
            step,
            losses[k, step],
            letter,
            ha="center",
            va="center",
            color=line.get_color(),
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": line.get_color()},
        )
    for height, said in ((floor, "floor"), (start, "log V")):
        ax.axhline(height, color=GREY, linestyle=":", linewidth=1.4, zorder=1)
        ax.text(1.01, height, said, transform=ax.get_yaxis_transform(), color=GREY, fontsize=9, va="center")
    ax.set_ylim(-0.3, most)
    ax.set_xlabel("step")
    ax.set_ylabel("loss (nats per character)")
    return ax
