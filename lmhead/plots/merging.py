"""Two chunks of a row of logits become one: their exponentials as stacks, before and after they count in one unit."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def merging(first: ArrayLike, second: ArrayLike) -> Axes:
    """Four stacks of exp(z - m): each chunk by its own largest logit, the lower one converted, and both together."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    m = max(a.max(), b.max())
    stacks = [
        (f"first chunk\nunit $e^{{{a.max():zg}}}$", [(a - a.max(), BLUE)]),
        (f"second chunk\nunit $e^{{{b.max():zg}}}$", [(b - b.max(), ORANGE)]),
        (f"first, converted\nunit $e^{{{m:zg}}}$", [(a - m, BLUE)]),
        (f"both\nunit $e^{{{m:zg}}}$", [(b - m, ORANGE), (a - m, BLUE)]),
    ]
    ax = axes(height=3.2)
    for x, (_, parts) in enumerate(stacks):
        foot = 0.0
        for exponents, color in parts:
            for term in np.exp(np.sort(exponents)[::-1]):
                hatch = "////" if color == ORANGE else None
                face = "white" if color == ORANGE else "#9cc8e6"
                ax.bar(x, term, bottom=foot, width=0.55, facecolor=face, edgecolor=color, hatch=hatch)
                foot += term
        ax.annotate(f"S = {foot:.4f}", (x, foot), (0, 4), textcoords="offset points", ha="center")
    ax.set_xticks(range(len(stacks)), [label for label, _ in stacks])
    ax.set_ylabel("sum of the terms")
    ax.margins(y=0.12)
    return ax
