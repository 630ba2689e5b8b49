"""What the figures of chapter 1 show, read from the Axes that its cells draw."""

import re

import numpy as np
import pytest

from lmhead import plots, softmax
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text, numbers_in

CHAPTER = "01_hidden_is_not_a_token"
FIXTURE = load_fixture()
CAT, FLOWERS = (FIXTURE.prompts[text] for text in ("The cat sat on the", "She put the flowers in the"))


def words_of(labels):
    return [label.get_text() for label in labels]


@pytest.mark.figure("fig-real-answer")
def test_the_real_answer_shows_the_most_likely_tokens_and_mat():
    ax = axes_of(CHAPTER)["fig-real-answer"]
    p = softmax(CAT.logits[-1])
    shown = [*p[:-1].argsort()[::-1][:7], FIXTURE.index(" mat")]  # the last entry stands for all tokens not stored
    labels = [FIXTURE.tokens[i].strip() for i in shown]

    assert [bar.get_height() for bar in ax.patches] == p[shown].tolist()
    assert words_of(ax.get_xticklabels()) == labels
    assert labels[0] == "cat" and labels[-1] == "mat"
    assert words_of(ax.texts) == [f"{value:.4f}" for value in p[shown]]
    assert re.findall(r"(\w+)(?: has)? (0\.\d+)", alt_text(CHAPTER, "fig-real-answer")) == list(
        zip(labels, words_of(ax.texts), strict=True)
    )
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors.count(colors[-1]) == 1 and colors.count(colors[0]) == 7, "only mat stands out"
    assert round(100 * p[shown[0]]) == 7, "the caption: seven in a hundred"
    assert ax.get_ylabel() == "probability" and ax.get_ylim()[0] == 0


@pytest.mark.figure("fig-two-contexts")
def test_two_contexts_stand_side_by_side():
    ax = axes_of(CHAPTER)["fig-two-contexts"]
    words = ["cat", "moon", "golden", "sun", "vase", "pot", "bowl", "basket"]
    columns = [FIXTURE.index(f" {word}") for word in words]
    series = {prompt.text: softmax(prompt.logits[-1])[columns] for prompt in (CAT, FLOWERS)}

    for bars, values in zip(ax.containers, series.values(), strict=True):
        assert [bar.get_height() for bar in bars] == values.tolist()
    assert words_of(ax.get_legend().get_texts()) == list(series)
    assert words_of(ax.get_xticklabels()) == words
    assert words_of(ax.texts) == [f"{v:.2f}" for values in series.values() for v in values]
    assert ax.get_ylabel() == "probability" and ax.get_ylim()[0] == 0

    # the alt text, in its order
    said = alt_text(CHAPTER, "fig-two-contexts")
    assert f"After {CAT.text}, cat, moon, golden and sun have a few hundredths each and vase, pot, bowl" in said
    assert f"After {FLOWERS.text}, vase has more than a half, pot, bowl and basket less than a tenth" in said
    first, second = series.values()
    assert first[:4].min() > 0.02 and first[:4].max() < 0.08 and first[4:].max() < 0.01
    assert second[4] > 0.5 and second[5:].min() > 0.02 and second[5:].max() < 0.1 and second[:4].max() < 0.01


@pytest.mark.figure("fig-chain")
def test_the_chain_names_every_box_and_arrow():
    ax = axes_of(CHAPTER)["fig-chain"]
    T, d_model, V = len(CAT.ids), FIXTURE.d_model, f"{FIXTURE.vocab_size:,}"
    best = softmax(CAT.logits[-1])[:-1].argmax()
    boxes = {
        "text": CAT.text,
        "tokens": f"{T} ids",
        "X": f"[{T} × {d_model}]",
        "H": f"[{T} × {d_model}]",
        "h": f"[{d_model}]",
        "logits": f"[{V}]",
        "p": f"[{V}]",
        "token": f"id {FIXTURE.ids[best]}",
    }
    written = [text for text in words_of(ax.texts) if text]
    inside = [part for box in [*boxes.items(), ("text", FIXTURE.tokens[best].strip())] for part in box]
    assert written[: len(inside)] == inside
    arrows = ["cut", "rows of E", "the body,\nfinal norm", "last row", "times W_U", "softmax", "choose", "look up"]
    assert written[len(inside) :] == arrows
    assert len(ax.patches) == 9 and alt_text(CHAPTER, "fig-chain").startswith("Nine boxes")
    said = alt_text(CHAPTER, "fig-chain").replace("30 layers", "layers")  # which the figure calls the body
    assert numbers_in(said) == numbers_in(" ".join(inside)), "the alt text, box by box"
    assert said.endswith(f"the text {inside[-1]}.")


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
