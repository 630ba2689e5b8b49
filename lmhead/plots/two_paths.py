"""The two uses of a tied embedding: the paths from E to the loss, and the gradients that come back along them."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from lmhead.plots.style import BLUE, GREY, INK, ORANGE, axes

APART, WIDTH, HEIGHT = 2.4, 1.4, 0.75  # centre to centre; of a box
TOP, BOTTOM = 1.9, 0.0
CHAIN = (("x", "[T, d]"), ("h", "[T, d]"), ("logits", "[T, V]"), ("loss", "one number"))


def two_paths() -> Axes:
    """x, h, logits and loss in a row, E below them: two arrows lead up from E, two dashed ones come back down."""
    ax = axes(height=3.0)
    for i, (name, shape) in enumerate(CHAIN):
        _box(ax, APART * i, TOP, WIDTH, name, shape)
        if i:
            start, end = APART * (i - 1) + WIDTH / 2, APART * i - WIDTH / 2
            _arrow(ax, (start, TOP), (end, TOP), GREY)
    ax.text(APART / 2, TOP + 0.1, "body", ha="center", va="bottom", fontsize=9)
    right = APART * 2 + WIDTH / 2
    _box(ax, (right - WIDTH / 2) / 2, BOTTOM, right + WIDTH / 2, "E", "[V, d]")

    for x, up, down in (
        (0.0, "reads:\nrows of E", "$dx$: to the\nrows read"),
        (APART * 2, "scores:\n$W_U = E^{\\top}$", "$dW_U^{\\top}$: to\nevery row"),
    ):
        ends = (BOTTOM + HEIGHT / 2, TOP - HEIGHT / 2)
        _arrow(ax, (x - 0.15, ends[0]), (x - 0.15, ends[1]), INK)
        _arrow(ax, (x + 0.15, ends[1]), (x + 0.15, ends[0]), ORANGE, dashed=True)
        ax.text(x - 0.25, sum(ends) / 2, up, ha="right", va="center", fontsize=9)
        ax.text(x + 0.25, sum(ends) / 2, down, ha="left", va="center", fontsize=9, color=ORANGE)
    ax.set_xlim(-WIDTH / 2 - 0.5, APART * 3 + WIDTH / 2 + 0.1)
    ax.set_ylim(BOTTOM - HEIGHT / 2 - 0.1, TOP + HEIGHT / 2 + 0.1)
    ax.set_axis_off()
    return ax


def _box(ax: Axes, x: float, y: float, width: float, name: str, shape: str) -> None:
    corner = (x - width / 2, y - HEIGHT / 2)
    rounded = "round,pad=0,rounding_size=0.1"
    ax.add_patch(FancyBboxPatch(corner, width, HEIGHT, rounded, facecolor="#e8f1f8", edgecolor=BLUE))
    ax.text(x, y + 0.15, name, ha="center", va="center", fontweight="bold", fontsize=11)
    ax.text(x, y - 0.16, shape, ha="center", va="center", fontsize=9.5)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], color: str, *, dashed: bool = False) -> None:
    style = "--" if dashed else "-"
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "linestyle": style, "shrinkA": 1})
