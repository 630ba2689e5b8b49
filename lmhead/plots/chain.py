"""A chain of arrays: a box for each, and arrows that say what is done between two."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lmhead.plots._boxes import arrow, box
from lmhead.plots.style import GREY, axes

PER_ROW = 3
APART, DEEP = 2.0, 1.25  # from one box's centre to the next, in a row and between rows
WIDTH, HEIGHT = 1.2, 0.7  # of a box


def chain(boxes: Sequence[tuple[str, str]], arrows: Sequence[str], *, heavy: str = "", ax: Axes | None = None) -> Axes:
    """Boxes of (name, shape), three per row, in a line that winds down; `arrows[i]` is done on the way to box i + 1.

    The box named `heavy` has a heavier frame.
    """
    if len(arrows) != len(boxes) - 1:
        raise ValueError(f"{len(boxes)} boxes are joined by {len(boxes) - 1} arrows; got {len(arrows)}")
    rows = -(-len(boxes) // PER_ROW)
    ax = axes(height=1.25 * rows) if ax is None else ax
    centres = [_centre(i) for i in range(len(boxes))]
    for centre, (name, shape) in zip(centres, boxes, strict=True):
        box(ax, centre, WIDTH, HEIGHT, name, shape, frame=3 if name == heavy else 1)
    for here, there, what in zip(centres[:-1], centres[1:], arrows, strict=True):
        _lead(ax, here, there, what)
    ax.set_xlim(-WIDTH / 2 - 0.1, APART * (PER_ROW - 1) + WIDTH / 2 + 0.1)
    ax.set_ylim(-DEEP * (rows - 1) - HEIGHT / 2 - 0.1, HEIGHT / 2 + 0.1)
    ax.set_axis_off()
    return ax


def _centre(i: int) -> tuple[float, float]:
    """Where box i stands: every other row runs from right to left."""
    row, column = divmod(i, PER_ROW)
    return APART * (column if row % 2 == 0 else PER_ROW - 1 - column), -DEEP * row


def _lead(ax: Axes, here: tuple[float, float], there: tuple[float, float], what: str) -> None:
    """From the edge of one box to the edge of the next, with what is done above it, or beside it where it goes down."""
    (x, y), (next_x, next_y) = here, there
    towards = (next_x > x) - (next_x < x)
    if towards:
        start, end = (x + towards * WIDTH / 2, y), (next_x - towards * WIDTH / 2, y)
        ax.text((x + next_x) / 2, y + 0.08, what, ha="center", va="bottom", fontsize=9)
    else:
        start, end = (x, y - HEIGHT / 2), (x, next_y + HEIGHT / 2)
        inwards = 1 if x == 0 else -1
        ax.text(x + 0.12 * inwards, (y + next_y) / 2, what, ha="left" if x == 0 else "right", va="center", fontsize=9)
    arrow(ax, start, end, GREY)
