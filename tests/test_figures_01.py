"""The figures of chapter 1: what was drawn is what the chapter's data say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmhead import plots, softmax
from lmhead.smollm import load_fixture

FIXTURE = load_fixture()
CAT, FLOWERS = (FIXTURE.prompts[text] for text in ("The cat sat on the", "She put the flowers in the"))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.figure("fig-real-answer")
def test_the_real_answer_shows_the_most_likely_tokens_and_mat():
    p = softmax(CAT.logits[-1])
    shown = [*p[:-1].argsort()[::-1][:7], FIXTURE.index(" mat")]
    labels = [FIXTURE.tokens[i].strip() for i in shown]
    ax = plots.bars(labels, p[shown], ylabel="probability", digits=4, highlight=len(shown) - 1)

    assert [bar.get_height() for bar in ax.patches] == p[shown].tolist()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == labels
    assert labels[0] == "cat" and labels[-1] == "mat"
    assert [text.get_text() for text in ax.texts] == [f"{value:.4f}" for value in p[shown]]
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors.count(colors[-1]) == 1, "only mat stands out"
    assert ax.get_ylabel() == "probability"


@pytest.mark.figure("fig-two-contexts")
def test_two_contexts_stand_side_by_side():
    words = [" cat", " moon", " golden", " sun", " vase", " pot", " bowl", " basket"]
    columns = [FIXTURE.index(word) for word in words]
    series = {prompt.text: softmax(prompt.logits[-1])[columns] for prompt in (CAT, FLOWERS)}
    ax = plots.paired_bars([word.strip() for word in words], series, ylabel="probability", digits=2)

    for bars, values in zip(ax.containers, series.values(), strict=True):
        assert [bar.get_height() for bar in bars] == values.tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(series)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [word.strip() for word in words]
    assert [text.get_text() for text in ax.texts] == [f"{v:.2f}" for values in series.values() for v in values]
    first, second = series.values()
    assert (first[:4] > second[:4]).all() and (first[4:] < second[4:]).all(), "the caption says so"


BOXES = [("text", "in"), ("ids", "5"), ("X", "5 × 4"), ("H", "5 × 4"), ("h", "1 × 4"), ("logits", "1 × 7"), ("id", "2")]
ARROWS = ["cut", "rows of E", "the body", "last row", "times W_U", "choose"]


@pytest.mark.figure("fig-chain")
def test_the_chain_names_every_box_and_arrow():
    ax = plots.chain(BOXES, ARROWS)
    written = [text.get_text() for text in ax.texts if text.get_text()]
    assert written == [part for box in BOXES for part in box] + ARROWS
    assert len(ax.patches) == len(BOXES)


@pytest.mark.figure("fig-chain")
def test_the_chain_winds_and_its_arrows_join_neighbours():
    ax = plots.chain(BOXES, ARROWS)
    centres = [(box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2) for box in ax.patches]
    x, y = np.array(centres).T
    assert x[:3].tolist() == x[5:2:-1].tolist() and x[6] == x[0], "every other row runs from right to left"
    assert (np.diff(y)[[0, 1, 3, 4]] == 0).all() and (np.diff(y)[[2, 5]] < 0).all()

    arrows = [text for text in ax.texts if not text.get_text()]
    for arrow, here, there in zip(arrows, centres, centres[1:], strict=False):
        start, end = np.array(arrow.xyann), np.array(arrow.xy)
        way = np.subtract(there, here)
        assert 0 < (start - here) @ way < (end - here) @ way < way @ way, "from one box's edge to the next one's"
    assert len(arrows) == len(ARROWS)


def test_the_chain_refuses_arrows_that_do_not_join_its_boxes():
    with pytest.raises(ValueError, match="7 boxes are joined by 6 arrows; got 5"):
        plots.chain(BOXES, ARROWS[:-1])
