"""What the figures of chapter 5 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import softmax
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "05_logits_to_probabilities"
WORDS = ["mat", "rug", "sofa", "moon", "of"]
Z = np.array([2.5, 1.5, 0.5, 0.0, -2.0])


def heights(ax):
    return np.array([[bar.get_height() for bar in bars] for bars in ax.containers])


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.figure("fig-draw")
def test_the_pieces_lie_end_to_end_and_u_falls_on_the_second():
    ax = axes_of(CHAPTER)["fig-draw"]
    ends = np.cumsum(softmax(Z))
    left = np.array([bar.get_x() for bar in ax.patches])
    np.testing.assert_allclose(left, [0, *ends[:-1]], atol=1e-12)
    np.testing.assert_allclose(left + [bar.get_width() for bar in ax.patches], ends)
    assert [bar.get_y() + bar.get_height() / 2 for bar in ax.patches] == ax.get_yticks().tolist()
    assert [text.get_text() for text in ax.texts] == [f"{end:.3f}" for end in np.column_stack([left, ends]).ravel()]
    assert [label.get_text() for label in ax.get_yticklabels()] == WORDS
    (u,) = set(ax.get_lines()[0].get_xdata())
    assert u == np.random.default_rng(0).random() and (ends <= u).sum() == WORDS.index("rug")
    assert ax.get_xlabel() == f"the line from 0 to 1, and u = {u:.4f}"
    said = alt_text(CHAPTER, "fig-draw")
    assert "mat from 0 to {:.4f}, rug to {:.4f}, sofa to {:.4f}, moon to {:.3f} and of to {:.0f}.".format(*ends) in said
    assert f"A line at {u:.4f} crosses the second piece, that of rug." in said


@pytest.mark.figure("fig-one-logit-moves-all")
def test_one_logit_moves_every_bar():
    ax = axes_of(CHAPTER)["fig-one-logit-moves-all"]
    before, after = heights(ax)
    np.testing.assert_allclose(before, softmax([2.0, 1.0, 0.1]))
    np.testing.assert_allclose(after, softmax([2.0, 1.0, 2.1]))
    ratio = after / before
    assert ratio[0] == pytest.approx(ratio[1]) and ratio[0] < 1 < ratio[2], "the caption: in proportion"
    assert ticks(ax) == ["cat", "dog", "fish"] and legend(ax) == ["before", "after"]
    said = alt_text(CHAPTER, "fig-one-logit-moves-all")
    moves = [f"{round(was, 4):g} to {round(now, 4):g}" for was, now in zip(before, after, strict=True)]
    assert "Cat falls from {}, dog from {}, fish rises from {}.".format(*moves) in said
    first, second = (bars[0].get_hatch() for bars in ax.containers)
    assert first != second, "told apart without colour"


@pytest.mark.figure("fig-only-gaps-count")
def test_only_the_exponentials_share_is_level():
    ax = axes_of(CHAPTER)["fig-only-gaps-count"]
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == ["z", "square", "sigmoid", "e^z"] == legend(ax)
    added = lines["z"].get_xdata()
    assert added[0] == 0 and added[-1] == 6
    weights = {"z": lambda x: x, "square": np.square, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "e^z": np.exp}
    for name, weight in weights.items():
        expected = [weight(Z[0] + c) / weight(Z + c).sum() for c in added]
        np.testing.assert_allclose(lines[name].get_ydata(), expected)
    np.testing.assert_allclose(lines["e^z"].get_ydata(), softmax(Z)[0])
    assert all(np.ptp(lines[name].get_ydata()) > 0.1 for name in ("z", "square", "sigmoid")), (
        "one line of four is level"
    )
    said = alt_text(CHAPTER, "fig-only-gaps-count")
    assert f"level at {softmax(Z)[0]:.3f}" in said and "over a number from 0 to 6" in said
    slopes = {name: np.sign(np.diff(line.get_ydata())) for name, line in lines.items()}
    assert (slopes["z"] < 0).all() and (slopes["sigmoid"] < 0).all(), "the lines of z and of the sigmoid fall"
    assert slopes["square"][0] > 0 > slopes["square"][-1], "that of the square rises and then falls"
    assert ax.get_ylabel() == "share of mat"
