"""What the figures of chapter 1 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import plots, softmax
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text, figure_name, figures, numbers_in, said_beside

CHAPTER = "01_hidden_is_not_a_token"
FIXTURE = load_fixture()
CAT = "The cat sat on the"
ALONE, AFTER = (FIXTURE.prompt(CAT, start) for start in ("none", "text"))
FLOWERS = FIXTURE.prompt("She put the flowers in the", "text")


def words_of(labels):
    return [label.get_text() for label in labels]


def p_of(prompt, words):
    """The last position's probabilities of words that begin with a space."""
    return softmax(prompt.logits[-1])[[FIXTURE.index(f" {word}") for word in words]]


def check_pairs(ax, series, words, digits):
    """Two bars for each word, their heights, labels and legend."""
    for bars, values in zip(ax.containers, series.values(), strict=True):
        assert [bar.get_height() for bar in bars] == values.tolist()
    for tick, first, second in zip(ax.get_xticks(), *ax.containers, strict=True):
        assert first.get_x() + first.get_width() < tick < second.get_x(), "left and right of their word"
    assert words_of(ax.get_legend().get_texts()) == list(series)
    assert words_of(ax.get_xticklabels()) == words
    assert words_of(ax.texts) == [f"{v:.{digits}f}" for values in series.values() for v in values]
    assert ax.get_ylabel() == "probability" and ax.get_ylim()[0] == 0


@pytest.mark.figure("fig-beginnings")
def test_two_beginnings_stand_side_by_side():
    words = ["mat", "edge", "couch", "cat", "window", "moon", "golden"]
    none, text = p_of(ALONE, words), p_of(AFTER, words)
    check_pairs(
        axes_of(CHAPTER)["fig-beginnings"], {"nothing before": none, "after <|endoftext|>": text}, words, digits=3
    )

    by_none, by_text = np.array(words)[none.argsort()], np.array(words)[text.argsort()]
    assert by_none[-1] == "cat" and by_none[:2].tolist() == ["window", "mat"]
    assert by_text[-2:].tolist() == ["edge", "mat"] and by_text[0] == "golden" and text[0] > 3 * text[1]
    said = alt_text(CHAPTER, "fig-beginnings")
    assert f"cat has the most, {none[3]:.3f}, and mat has {none[0]:.3f}, less than all but window" in said
    assert f"mat has {text[0]:.3f}, more than three times as much as the next, edge with {text[1]:.3f}" in said
    (cell,) = [cell for cell in figures(CHAPTER) if figure_name(cell) == "fig-beginnings"]
    assert "no token has a tenth" in said_beside(cell)[1] and softmax(ALONE.logits[-1])[:-1].max() < 0.1


@pytest.mark.figure("fig-beside-h")
def test_h_and_the_rows_are_drawn_to_scale():
    ax, h, rows = axes_of(CHAPTER)["fig-beside-h"], AFTER.h[-1].astype(float), FIXTURE.W_U.T.astype(float)
    along, rest = (values for line in ax.get_lines() for values in line.get_data())
    assert np.allclose(along, rows @ h / np.linalg.norm(h), atol=1e-4)
    assert np.allclose(np.hypot(along, rest), np.linalg.norm(rows, axis=1), atol=1e-3)
    assert np.allclose(np.hypot(along - np.linalg.norm(h), rest), np.linalg.norm(rows - h, axis=1)), "to scale"
    (arrow,) = ax.collections
    assert np.allclose([*arrow.U, *arrow.V], [np.linalg.norm(h), 0], atol=1e-4) and ax.get_aspect() == 1.0
    assert words_of(ax.texts) == ["h", "stored rows of E"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("along h", "at a right angle")
    assert ax.get_xlim()[0] < along.min() and ax.get_xlim()[1] > np.linalg.norm(h) and ax.get_ylim()[1] > rest.max()
    assert f"An arrow h of length {np.linalg.norm(h):.0f} to the right" in alt_text(CHAPTER, "fig-beside-h")
    assert abs(along).max() < 1, "No point is as far as 1 along the arrow."
    few = (rest > 6.5) & (rest < 7.6)
    assert ((rest > 1.5) & (rest < 4) | few).all() and 0 < few.sum() < 20, "Most lie 2 to 4 above it, a few at 7."


@pytest.mark.figure("fig-two-contexts")
def test_two_contexts_stand_side_by_side():
    words = ["mat", "edge", "couch", "moon", "vase", "basket", "bowl", "pot"]
    cat, flowers = p_of(AFTER, words), p_of(FLOWERS, words)
    check_pairs(axes_of(CHAPTER)["fig-two-contexts"], {AFTER.text: cat, FLOWERS.text: flowers}, words, digits=2)

    # the alt text, in its order
    said = alt_text(CHAPTER, "fig-two-contexts")
    assert f"After {CAT}, mat has about a third, edge a tenth, couch and moon less, and vase, basket, bowl and" in said
    assert f"After {FLOWERS.text}, vase has more than a third, basket, bowl and pot a few hundredths, and" in said
    assert 0.3 < cat[0] < 0.36 and 0.09 < cat[1] < 0.11 and 0.03 < cat[2:4].min() < cat[2:4].max() < 0.06
    assert cat[4:].max() < 0.01
    assert 0.34 < flowers[4] < 0.5 and 0.02 < flowers[5:].min() < flowers[5:].max() < 0.07 and flowers[:4].max() < 0.01


@pytest.mark.figure("fig-chain")
def test_the_chain_names_every_box_and_arrow():
    ax = axes_of(CHAPTER)["fig-chain"]
    boxes = [
        ("text", CAT),
        ("ids", "integers"),
        ("X", "embeddings"),
        ("H", "hidden states"),
        ("h", "one vector"),
        ("logits", "scores"),
        ("p", "probabilities"),
        ("id", "one integer"),
        ("text", "?"),
    ]
    written = [text for text in words_of(ax.texts) if text]
    assert written[:18] == [part for box in boxes for part in box]
    arrows = ["cut,\nlook up", "rows of E", "the body", "the last", "times W_U", "softmax", "choose", "look up"]
    assert written[18:] == arrows
    assert not numbers_in(" ".join(written)), "the map gives no answer away"

    said = alt_text(CHAPTER, "fig-chain")
    assert len(ax.patches) == 9 and said.startswith("Nine boxes") and "h, one vector, in a heavy frame" in said
    frames = [box.get_linewidth() for box in ax.patches]
    assert boxes[frames.index(max(frames))][0] == "h" and frames.count(max(frames)) == 1
    order = ["cut into ids", "rows of E", "the body", "the last", "times W_U", "softmax", "choose", "look it up"]
    assert [said.index(what) for what in order] == sorted(said.index(what) for what in order)
    assert all(shape in said for _, shape in boxes[1:-1]) and "a question mark" in said


@pytest.mark.figure("fig-chain")
def test_the_chain_winds_and_its_arrows_join_neighbours():
    ax = axes_of(CHAPTER)["fig-chain"]
    centres = [(box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2) for box in ax.patches]
    x, y = np.array(centres).T
    assert x[:3].tolist() == x[5:2:-1].tolist() == x[6:].tolist(), "every other row runs from right to left"
    assert (np.diff(y)[[0, 1, 3, 4, 6, 7]] == 0).all() and (np.diff(y)[[2, 5]] < 0).all()
    names, shapes = (
        [text.get_position() for text in ax.texts[:18:2]],
        [text.get_position() for text in ax.texts[1:18:2]],
    )
    for box, (name_x, name_y), (shape_x, shape_y), centre in zip(ax.patches, names, shapes, centres, strict=True):
        assert name_x == shape_x == pytest.approx(centre[0])
        assert box.get_y() < shape_y < centre[1] < name_y < box.get_y() + box.get_height(), "inside its box"

    arrows = [text for text in ax.texts if not text.get_text()]
    for arrow, here, there in zip(arrows, centres[:-1], centres[1:], strict=True):
        start, end = np.array(arrow.xyann), np.array(arrow.xy)
        way = np.subtract(there, here)
        assert 0 < (start - here) @ way < (end - here) @ way < way @ way, "from one box's edge to the next one's"


def test_the_chain_refuses_arrows_that_do_not_join_its_boxes():
    with pytest.raises(ValueError, match="3 boxes are joined by 2 arrows; got 1"):
        plots.chain([("h", "[4]"), ("logits", "[7]"), ("p", "[7]")], ["times W_U"])
