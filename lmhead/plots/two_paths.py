"""The two uses of a tied embedding: the paths from E to the loss, and the gradients that come back along them."""

from __future__ import annotations

from matplotlib.axes import Axes

from lmhead.plots._boxes import arrow, box
from lmhead.plots.style import GREY, INK, ORANGE, axes

APART, WIDTH, HEIGHT = 2.4, 1.4, 0.75  # centre to centre; of a box
TOP, BOTTOM = 1.9, 0.0
CHAIN = (("x", "[T, d]"), ("h", "[T, d]"), ("logits", "[T, V]"), ("loss", "one number"))


def two_paths() -> Axes:
    """x, h, logits and loss in a row, E below them: two arrows lead up from E, two dashed ones come back down."""
    ax = axes(height=3.0)
    for i, (name, shape) in enumerate(CHAIN):
        box(ax, (APART * i, TOP), WIDTH, HEIGHT, name, shape)
        if i:
            start, end = APART * (i - 1) + WIDTH / 2, APART * i - WIDTH / 2
            arrow(ax, (start, TOP), (end, TOP), GREY)
    ax.text(APART / 2, TOP + 0.1, "body", ha="center", va="bottom", fontsize=9)
    right = APART * 2 + WIDTH / 2
    box(ax, ((right - WIDTH / 2) / 2, BOTTOM), right + WIDTH / 2, HEIGHT, "E", "[V, d]")

    for x, up, down in (
        (0.0, "reads:\nrows of E", "$dx$: to the\nrows read"),
        (APART * 2, "scores:\n$W_U = E^{\\top}$", "$dW_U^{\\top}$: to\nevery row"),
    ):
        ends = (BOTTOM + HEIGHT / 2, TOP - HEIGHT / 2)
        arrow(ax, (x - 0.15, ends[0]), (x - 0.15, ends[1]), INK)
        arrow(ax, (x + 0.15, ends[1]), (x + 0.15, ends[0]), ORANGE, dashed=True)
        ax.text(x - 0.25, sum(ends) / 2, up, ha="right", va="center", fontsize=9)
        ax.text(x + 0.25, sum(ends) / 2, down, ha="left", va="center", fontsize=9, color=ORANGE)
    ax.set_xlim(-WIDTH / 2 - 0.5, APART * 3 + WIDTH / 2 + 0.1)
    ax.set_ylim(BOTTOM - HEIGHT / 2 - 0.1, TOP + HEIGHT / 2 + 0.1)
    ax.set_axis_off()
    return ax
