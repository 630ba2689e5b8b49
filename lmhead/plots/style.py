"""How every figure of the book looks: one palette, one face, a light card that reads on light and dark pages."""

from __future__ import annotations

import hashlib
import importlib
import re
import sys

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart with any colour vision, darkened where white needs more contrast.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#c15400", "#00785a", "#a8487e", "#5f6b76"
INK = "#1f2933"

RC = {
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PINK, GREY]),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "figure.autolayout": True,  # not constrained_layout, whose solver differs in the last bit from run to run
    "figure.facecolor": "white",
    "figure.figsize": (6.4, 3.0),
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on every machine
    "font.size": 10,
    "grid.color": "#dde3e8",
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "lmhead",  # else matplotlib names its clip paths at random
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def use_book_style() -> None:
    """Style every later figure, and show figures in notebooks as SVG without a date."""
    plt.style.use(RC)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:  # elsewhere there is no notebook to show anything in
        set_formats = importlib.import_module("matplotlib_inline.backend_inline").set_matplotlib_formats
        set_formats("svg", metadata={"Date": None})
        svg = shell.display_formatter.formatters["image/svg+xml"]
        draw = svg.lookup_by_type(Figure)
        svg.for_type(Figure, lambda figure: _steady(draw(figure)))


def _steady(svg: str) -> str:
    """The same SVG on every processor: to a thousandth of a point, clip paths named after what is printed of them.

    Matplotlib prints six digits and names clip paths after all of them; the last one is the processor's.

    >>> _steady('<clipPath id="p0123"><rect x="7.2501"/></clipPath>')
    '<clipPath id="p82d1f17698"><rect x="7.25"/></clipPath>'
    """
    svg = re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.3f}".rstrip("0").rstrip("."), svg)
    for name, clip in re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', svg, re.DOTALL):
        svg = svg.replace(name, "p" + hashlib.sha256(clip.encode()).hexdigest()[:10])
    return svg


def axes(width: float = 6.4, height: float = 3.0) -> Axes:
    """One empty pair of axes; sizes in inches."""
    return plt.subplots(figsize=(width, height))[1]
