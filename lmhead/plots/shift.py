"""Which token each position answers for: what it has read below, what it must predict above."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lmhead.plots.style import BLUE, GREY, ORANGE, axes


def shift(tokens: Sequence[str], *, nothing: str = "-100") -> Axes:
    """The tokens of a text as they are read, below, and above each of them its target: the token one place later.

    A dashed arrow leads from each token to where it stands as a target. The last position has `nothing` above it.
    """
    if len(tokens) < 2:
        raise ValueError(f"a shift needs two tokens or more; got {list(tokens)}")
    ax = axes(height=2.4)
    for t, token in enumerate(tokens):
        target = tokens[t + 1] if t + 1 < len(tokens) else nothing
        _box(ax, t, 0.0, token, BLUE)
        _box(ax, t, 1.6, target, ORANGE if t + 1 < len(tokens) else GREY)
        ax.annotate("", (t, 1.6), (t, 0.7), arrowprops={"arrowstyle": "->", "color": GREY})
        if t:
            ax.annotate("", (t - 0.7, 1.62), (t - 0.36, 0.68), arrowprops={"arrowstyle": "-", "color": BLUE, "ls": ":"})
        ax.text(t, -0.25, f"position {t}", ha="center", va="top", fontsize=8.5, color=GREY)
    for y, said in ((0.35, "reads"), (1.95, "predicts")):
        ax.text(-0.6, y, said, ha="right", va="center")
    ax.set_xlim(-1.5, len(tokens) - 0.5)
    ax.set_ylim(-0.7, 2.4)
    ax.set_axis_off()
    return ax


def _box(ax: Axes, x: float, y: float, text: str, color: str) -> None:
    """A token in its box; a space is drawn as such."""
    ax.add_patch(Rectangle((x - 0.43, y), 0.86, 0.7, facecolor="#f4f7f9", edgecolor=color, linewidth=1.4))
    ax.text(x, y + 0.35, text.replace(" ", "␣"), ha="center", va="center")
