"""What a figure of a vocabulary in parts says and joins, read from its Axes."""

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba


def parts_of(ax: Axes) -> tuple[list[str], list[tuple[float, float, str]]]:
    """The words in the order drawn, and each arrow's start and end in y, with its line style; arrows are upright."""
    texts = [text for text in ax.texts if text.get_text()]
    arrows = [arrow for arrow in ax.texts if getattr(arrow, "arrow_patch", None) is not None]
    assert all(arrow.xy[0] == arrow.get_position()[0] for arrow in arrows)
    for part, *three in zip(ax.patches[2:], arrows[::3], arrows[1::3], arrows[2::3], strict=True):
        assert all(part.get_x() < arrow.xy[0] < part.get_x() + part.get_width() for arrow in three), "at its part"
    for said, arrow in zip(texts[-3:], arrows[:3], strict=True):  # up, back and down, each beside its arrows
        start, end = sorted([arrow.xy[1], arrow.get_position()[1]])
        assert start < said.get_position()[1] < end, f"{said.get_text()} stands elsewhere"
        assert arrow.arrow_patch.get_edgecolor() == to_rgba(said.get_color()), "in their colour"
    ax.figure.canvas.draw()
    boxes = [patch.get_window_extent() for patch in ax.patches]
    for text in texts[: 2 * len(boxes)]:  # a name and what stands under it, for each box
        low, high = text.get_window_extent().get_points()
        (inside,) = [b for b in boxes if b.contains(*(low + high) / 2)]
        assert inside.contains(*low) and inside.contains(*high), f"{text.get_text()} runs out of its box"
    joined = [(a.get_position()[1], a.xy[1], a.arrow_patch.get_linestyle()) for a in arrows]
    return [text.get_text() for text in texts], joined
