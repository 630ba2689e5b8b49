"""What the figures of chapter 2 show, read from the Axes that its cells draw."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lmhead import plots, unembed
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "02_shapes_of_W_U"
WORDS = ["cat", "dog", "fish", "mat", "moon"]
W_U = np.array([[1.0, 0, 1], [2, -1, 0], [0, 1, -1], [-1, 2, 2], [1, 1, 0]]).T
H = np.array([[1.0, 3, 2], [2, -1, 1]])


def grid(ax, marked=None):
    """The numbers drawn inside cells, by the cell's lower left corner; all, or those of marked cells."""
    widths = {cell.get_linewidth() for cell in ax.patches}
    corners = {
        cell.get_xy() for cell in ax.patches if marked is None or (cell.get_linewidth() == max(widths)) == marked
    }
    inside = {(x - 0.5, y - 0.5): text.get_text() for text in ax.texts for x, y in [text.get_position()]}
    return {corner: float(inside[corner]) for corner in corners}


def block(numbers, x, y):
    """A matrix as `grid` reads it, with its upper left corner at (x, y)."""
    return {(x + j, y - i - 1.0): value for (i, j), value in np.ndenumerate(numbers)}


@pytest.mark.figure("fig-product")
def test_the_product_shows_every_number_in_its_place():
    ax = axes_of(CHAPTER)["fig-product"]
    # each logit stands right of its hidden state and below its word's column
    assert grid(ax) == block(W_U, 4.0, 0.0) | block(H, 0.0, -4.0) | block(unembed(H, W_U), 4.0, -4.0)
    texts = {text.get_text(): text.get_position() for text in ax.texts}
    assert [texts[word][0] for word in WORDS] == [4.5, 5.5, 6.5, 7.5, 8.5]
    assert {"H  2 × 3", "W_U  3 × 5", "logits  2 × 5"} <= set(texts)
    assert "H of 2 by 3 stands left, W_U of 3 by 5 above, and the logits of 2 by 5 where" in alt_text(
        CHAPTER, "fig-product"
    )


@pytest.mark.figure("fig-product")
def test_one_row_one_column_and_the_logit_that_they_make_are_marked():
    ax = axes_of(CHAPTER)["fig-product"]
    marked = grid(ax, marked=True)
    assert marked == {
        **block(H[:1], 0.0, -4.0),
        **block(W_U[:, 3:4], 7.0, 0.0),
        **block([[9.0]], 7.0, -4.0),  # the caption's sum
    }
    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert bold == ["-1", "2", "2", "1", "3", "2", "9", "mat"], "not by colour alone"
    column, row, (logit, word) = ", ".join(bold[:3]), ", ".join(bold[3:6]), bold[6:]
    said = f"The upper row of H, {row}, and the column of {word}, {column}, are marked, and so is the logit"
    assert said in alt_text(CHAPTER, "fig-product") and alt_text(CHAPTER, "fig-product").endswith(f" {logit}.")


def test_the_product_refuses_labels_that_do_not_fit():
    with pytest.raises(ValueError, match=r"W_U must be \[3, 4\] for H \(2, 3\) and 4 labels; got \(3, 5\)"):
        plots.product(H, W_U, WORDS[:4], position=0, token=3)


@pytest.mark.figure("fig-memory")
def test_the_two_lines_hold_the_numbers_in_the_order_of_memory():
    ax = axes_of(CHAPTER)["fig-memory"]
    names = ["weight, and W_U as its view", "W_U of its own"]
    weight, own = W_U.T, W_U
    lines: dict[str, list[tuple[tuple[float, float], str]]] = {name: [] for name in names}
    for text in ax.texts:
        if text.get_text() in names:
            line = lines[text.get_text()]
        else:
            line.append((text.get_position(), text.get_text()))
    for name, numbers, words in (
        (names[0], weight, np.repeat(WORDS, 3)),
        (names[1], own, np.tile(WORDS, 3)),
    ):
        drawn = [text for _, text in lines[name]]
        assert [float(number) for number in drawn[::2]] == numbers.ravel(order="C").tolist()
        assert drawn[1::2] == words.tolist()
        assert [x for (x, _), _ in lines[name]] == [i + 0.5 for i in range(15) for _ in "ab"], "one after the other"

    said = alt_text(CHAPTER, "fig-memory")
    assert "the first three cells belong to cat, the next three to dog, and so on to moon" in said
    assert "the words take turns: cat, dog, fish, mat, moon, three times over" in said


@pytest.mark.figure("fig-memory")
@pytest.mark.figure("fig-reshape")
def test_each_word_has_its_own_colour_in_all_lines():
    of_word: dict[str, set[str]] = {}
    for name in ("fig-memory", "fig-reshape"):
        ax = axes_of(CHAPTER)[name]
        words = [text for text in ax.texts if text.get_text() in WORDS]
        strips = [cell for cell in ax.patches if cell.get_linewidth() == 0]
        for word, strip in zip(words, strips, strict=True):
            assert word.get_position()[0] == strip.get_x() + 0.5
            of_word.setdefault(word.get_text(), set()).update((word.get_color(), to_hex(strip.get_facecolor())))
    colors = [color for (color,) in of_word.values()]
    assert len(set(colors)) == len(WORDS)


@pytest.mark.figure("fig-reshape")
def test_reshape_cuts_the_line_of_weight_after_each_fifth_number():
    ax = axes_of(CHAPTER)["fig-reshape"]
    cuts, below = [], [text.get_text() for text in ax.texts if text.get_text() in WORDS]
    assert below == np.repeat(WORDS, 3).tolist()
    for (x, low), (same, high) in ax.collections[0].get_segments():
        assert x == same and low < -1 and high > 0, "through the whole cell"
        cuts.append(int(x))
    wrong = W_U.T.reshape(3, 5)
    pieces = np.split(np.array(below), cuts)
    assert [len(piece) for piece in pieces] == [wrong.shape[1]] * len(wrong)

    said = alt_text(CHAPTER, "fig-reshape")
    assert "; ".join(", ".join(piece) for piece in pieces).split("; ") == [
        part.split(" holds ")[-1].removeprefix("the second ").removeprefix("the third ")
        for part in said.partition("The first piece holds ")[2].rstrip(".").split("; ")
    ]
    assert [piece[0] for piece in pieces] == ["cat", "dog", "mat"], "the caption"


def test_memory_lines_refuses_a_matrix_whose_tokens_it_cannot_find():
    with pytest.raises(ValueError, match=r"one axis of 'H' must have 5 tokens, the other not; got \(2, 3\)"):
        plots.memory_lines({"H": H}, WORDS)
    with pytest.raises(ValueError, match=r"one axis of 'square' must have 5 tokens, the other not; got \(5, 5\)"):
        plots.memory_lines({"square": np.eye(5)}, WORDS)
    with pytest.raises(ValueError, match="5 colours, one for each token; got 6 labels"):
        plots.memory_lines({"W_U": W_U}, [*WORDS, "sofa"])
