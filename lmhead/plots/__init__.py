"""The book's figures. Every helper draws plain matplotlib and returns the Axes, so that a test can read what was drawn.

Importing this module makes notebooks show figures as SVG, the same bytes at every run.
"""

from lmhead.plots.bars import bars
from lmhead.plots.curves import curves
from lmhead.plots.style import axes, use_book_style

__all__ = ["axes", "bars", "curves", "use_book_style"]

use_book_style()
