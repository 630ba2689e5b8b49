"""matplotlib's backend on a page: it draws as Agg does, and `plt.show()` shows the figures below the cell."""

from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from page_runner import show_figures

__all__ = ["FigureCanvas", "show"]


def show(*args: object, **kwargs: object) -> None:
    """Called by `plt.show()`."""
    show_figures()
