"""What a figure of a vocabulary in parts says and joins, read from its Axes."""

from matplotlib.axes import Axes


def parts_of(ax: Axes) -> tuple[list[str], list[tuple[float, float, str]]]:
    """The words in the order drawn, and each arrow's start and end in y, with its line style; arrows are upright."""
    texts = [text for text in ax.texts if text.get_text()]
    arrows = [arrow for arrow in ax.texts if getattr(arrow, "arrow_patch", None) is not None]
    assert all(arrow.xy[0] == arrow.get_position()[0] for arrow in arrows)
    boxes = [patch.get_window_extent() for patch in ax.patches]
    ax.figure.canvas.draw()
    for text in texts[: 2 * len(boxes)]:  # a name and what stands under it, for each box
        (inside,) = [b for b in boxes if b.contains(*text.get_window_extent().get_points().mean(axis=0))]
        words = text.get_window_extent()
        assert inside.x0 < words.x0 and words.x1 < inside.x1, f"{text.get_text()} runs out of its box"
    joined = [(a.get_position()[1], a.xy[1], a.arrow_patch.get_linestyle()) for a in arrows]
    return [text.get_text() for text in texts], joined
