"""A vocabulary in parts: what each part leaves behind, what comes back to it, and the sum of what it adds."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lmhead.plots._boxes import arrow, box
from lmhead.plots.style import BLUE, INK, ORANGE, axes

APART, WIDTH, HEIGHT = 2.6, 2.3, 0.75  # of the parts, centre to centre; of their boxes
ROWS = (3.4, 1.7, 0.0)  # what all leave behind, the parts, what they add up to


def in_parts(parts: Sequence[tuple[str, str]], *, leaves: str, comes_back: str, adds: str) -> Axes:
    """The `parts` (name, what it keeps) in a row, the merged state above them and dH below.

    An arrow up says what a part `leaves`, a dashed one down what `comes_back`, and one further down what it `adds`.
    """
    ax = axes(height=3.4)
    middle, right = APART * (len(parts) - 1) / 2, APART * (len(parts) - 1) + WIDTH / 2
    wide = APART * (len(parts) - 1) + WIDTH
    box(ax, (middle, ROWS[0]), wide, HEIGHT, "merged", "top, rest, $z_y$  of all tokens: the loss")
    box(ax, (middle, ROWS[2]), wide, HEIGHT, "$dH$  [N, d]", "the sum of the parts")
    for i, (name, kept) in enumerate(parts):
        x = APART * i
        box(ax, (x, ROWS[1]), WIDTH, HEIGHT, name, kept)
        above, below = ROWS[1] + HEIGHT / 2, ROWS[1] - HEIGHT / 2
        arrow(ax, (x - 0.25, above), (x - 0.25, ROWS[0] - HEIGHT / 2), INK)
        arrow(ax, (x + 0.25, ROWS[0] - HEIGHT / 2), (x + 0.25, above), BLUE, dashed=True)
        arrow(ax, (x, below), (x, ROWS[2] + HEIGHT / 2), ORANGE)
    high, low = (ROWS[0] + ROWS[1]) / 2, (ROWS[1] + ROWS[2]) / 2
    ax.text(-0.4, high, leaves, ha="right", va="center", fontsize=9, color=INK)
    ax.text(APART * (len(parts) - 1) + 0.4, high, comes_back, ha="left", va="center", fontsize=9, color=BLUE)
    ax.text(-0.15, low, adds, ha="right", va="center", fontsize=9, color=ORANGE)
    ax.set_xlim(-WIDTH / 2 - 0.9, right + 0.9)
    ax.set_ylim(ROWS[2] - HEIGHT / 2 - 0.1, ROWS[0] + HEIGHT / 2 + 0.1)
    ax.set_axis_off()
    return ax
