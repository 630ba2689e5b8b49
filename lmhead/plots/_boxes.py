"""Boxes and arrows, of which the figures of what leads where are made."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from lmhead.plots.style import BLUE

Point = tuple[float, float]


def box(ax: Axes, centre: Point, width: float, height: float, name: str, under: str, *, frame: float = 1) -> None:
    """A rounded box with a name, and below it what it holds."""
    (x, y), rounded = centre, "round,pad=0,rounding_size=0.1"
    corner = (x - width / 2, y - height / 2)
    ax.add_patch(FancyBboxPatch(corner, width, height, rounded, facecolor="#e8f1f8", edgecolor=BLUE, linewidth=frame))
    ax.text(x, y + 0.15, name, ha="center", va="center", fontweight="bold", fontsize=11)
    ax.text(x, y - 0.16, under, ha="center", va="center", fontsize=9.5)


def arrow(ax: Axes, start: Point, end: Point, color: str, *, dashed: bool = False) -> None:
    """From the edge of one box to that of another."""
    style = "--" if dashed else "-"
    look = {"arrowstyle": "-|>", "color": color, "linestyle": style, "shrinkA": 1, "shrinkB": 1}
    ax.annotate("", end, start, arrowprops=look)
