"""A text as it reads, with what each of its tokens cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from lmhead.plots.style import GREY, ORANGE, axes

WIDTH, PER_LINE = 6.4, 54  # of the figure in inches; of a line in characters, the unit of x
WRITING, BAR, NUMBER = 1.0, 1.1, 1.15  # what a line needs for its three storeys; the unit of y is UNIT inches
PITCH, UNIT = WRITING + BAR + NUMBER, 0.2
EM = 0.602  # the width of a character of DejaVu Sans Mono, in font sizes
SHADES = LinearSegmentedColormap.from_list("losses", ["#ffffff", "#f3b285"])  # dark letters read well on both


def token_losses(tokens: Sequence[str], losses: ArrayLike, *, named: int = 5) -> Axes:
    """The text of `tokens`, each shaded by its loss (nats) and with a bar of that height under it.

    There is one loss per token. The `named` dearest have their number; a token that is not scored, with NaN, has a
    dashed frame. A line break is drawn as ¶.
    """
    cost = np.asarray(losses, float)
    if cost.shape != (len(tokens),):
        raise ValueError(f"losses must hold one number per token; got shape {cost.shape} for {len(tokens)} tokens")
    shown = [token.replace("\n", "¶") for token in tokens]
    places = list(_places(shown))
    lines = places[-1][0] + 1
    share = cost / np.nanmax(cost)
    dearest = np.argsort(-cost, kind="stable")[:named]  # NaN comes last

    with plt.rc_context({"figure.autolayout": False}):  # no margin, so that a character is as wide as a unit of x
        ax = axes(WIDTH, UNIT * PITCH * lines)
    ax.set_position((0, 0, 1, 1))
    size = 72 * WIDTH / (PER_LINE + 1) / EM
    for i, (text, (line, x)) in enumerate(zip(shown, places, strict=True)):
        y, width, middle = line * PITCH, len(text), x + len(text) / 2
        floor = y + WRITING + BAR
        word = text.lstrip(" ")
        ax.text(x + width - len(word), y + 0.72, word, family="DejaVu Sans Mono", fontsize=size)
        if np.isnan(cost[i]):
            ax.add_patch(Rectangle((x, y), width, WRITING, fill=False, edgecolor=GREY, linestyle="--", gid="shade"))
        else:
            ax.add_patch(Rectangle((x, y), width, WRITING, facecolor=SHADES(share[i]), gid="shade"))
            ax.add_patch(Rectangle((middle - 0.4, floor), 0.8, -BAR * share[i], color=ORANGE, gid="loss"))
        if i in dearest:
            ax.text(middle, floor + 0.1, f"{cost[i]:z.2f}", ha="center", va="top", fontsize=8, color=ORANGE)
    ax.hlines(np.arange(lines) * PITCH + WRITING + BAR, 0, PER_LINE, color=GREY, linewidth=0.6)
    ax.set(xlim=(-0.5, PER_LINE + 0.5), ylim=(lines * PITCH, -0.2))
    ax.set_axis_off()
    return ax


def _places(shown: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each token begins: its line, and how many characters stand before it on that line."""
    line = at = 0
    broken = False  # whether a line break came last
    for text in shown:
        breaks = text.endswith("¶")
        if at and (at + len(text) > PER_LINE or (broken and not breaks)):
            line, at = line + 1, 0
        yield line, at
        at, broken = at + len(text), breaks
