"""What the figures of chapter 9 show, read from the Axes that its cells draw, and beside the fixture."""

import re

import numpy as np
import pytest

from lmhead import cross_entropy, plots
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "09_a_real_head"


@pytest.fixture(scope="module")
def drawn(real_model):  # skips, or fails under CI, where the model cannot be had
    return axes_of(CHAPTER)


@pytest.mark.figure("fig-logit-lens")
def test_the_winners_come_up_from_far_below(drawn):
    ax = drawn["fig-logit-lens"]
    paris, cat = ax.get_lines()
    assert [paris.get_label(), cat.get_label()] == ["' Paris'", "' cat'"]
    for line in (paris, cat):
        assert np.array_equal(line.get_xdata(), np.arange(31))
        assert line.get_ydata()[-1] == 1 and line.get_ydata()[:22].min() > 500
    assert (paris.get_ydata()[27:30] - 1).tolist() == [33, 6, 2]
    assert cat.get_ydata()[29] - 1 == 533
    said = alt_text(CHAPTER, "fig-logit-lens")
    assert "over the layers 0 to 30" in said and "That of Paris comes down over the last seven layers" in said
    assert paris.get_ydata()[23] > 1000 > paris.get_ydata()[24:].max()
    assert "that of cat is still in the hundreds at layer 29 and falls to 1 in the last step" in said
    assert ax.get_yscale() == "log" and ax.get_xlabel() == "layer" and ax.get_ylabel() == "place of token"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["' Paris'", "' cat'"]


@pytest.mark.figure("fig-paragraph")
def test_each_token_stands_over_its_price(drawn):
    tokens, losses = paragraph()
    check_token_losses(drawn["fig-paragraph"], tokens, losses)
    dearest = [(tokens[t].strip(), f"{losses[t]:.2f}") for t in np.argsort(losses[1:])[::-1][:5] + 1]
    said = alt_text(CHAPTER, "fig-paragraph")
    assert re.findall(r"(\w+)(?: with)? (\d+\.\d\d)", said) == dearest
    of = [loss for token, loss in zip(tokens, losses, strict=True) if token == " of"]
    assert "hardly a bar under the word of" in said and max(of) < 0.1 * max(losses[1:])


def test_the_same_from_the_fixture():
    tokens, losses = paragraph()
    check_token_losses(plots.token_losses(tokens, losses), tokens, losses)


def paragraph():
    """The paragraph's tokens and losses, the first of which is not scored."""
    prompt = load_fixture().prompts["paragraph"]
    return prompt.tokens, [np.nan, *cross_entropy(prompt.logits, prompt.targets, reduction="none")[:-1]]


def check_token_losses(ax, tokens, losses):
    words = [text for text in ax.texts if text.get_color() != plots.style.ORANGE]
    numbers = [text.get_text() for text in ax.texts if text.get_color() == plots.style.ORANGE]
    shades = [patch for patch in ax.patches if patch.get_gid() == "shade"]
    bars = [patch for patch in ax.patches if patch.get_gid() == "loss"]
    assert [word.get_text() for word in words] == [token.lstrip(" ").replace("\n", "¶") for token in tokens]
    assert numbers == ["9.64", "12.56", "10.47", "10.72", "9.32"]

    assert len(shades) == len(tokens) == len(bars) + 1
    assert not shades[0].get_fill() and shades[0].get_linestyle() == "--"
    heights = np.array([-bar.get_height() for bar in bars])
    assert np.allclose(heights / heights.max(), np.array(losses[1:]) / max(losses[1:]))
    darkness = [1 - shade.get_facecolor()[2] for shade in shades[1:]]
    assert np.all(np.diff(np.array(darkness)[np.argsort(losses[1:])]) >= 0) and max(darkness) > 0.4

    for shade, bar in zip(shades[1:], bars, strict=True):  # the bar stands below the middle of its token
        assert np.isclose(bar.get_x() + bar.get_width() / 2, shade.get_x() + shade.get_width() / 2)
        assert shade.get_y() + shade.get_height() < bar.get_y() < shade.get_y() + 2.5
    where = [(shade.get_y(), shade.get_x()) for shade in shades]
    assert where == sorted(where)  # the order of the text: left to right, line by line
    left, right = ax.get_xlim()
    assert all(left < shade.get_x() and shade.get_x() + shade.get_width() < right for shade in shades)
    bottom, top = ax.get_ylim()
    assert bottom > max(bar.get_y() for bar in bars) and top < 0


def test_a_paragraph_begins_on_a_line_of_its_own():
    ax = plots.token_losses(["a", ".", "\n", "\n", "b", " c"], [np.nan, 1.0, 2.0, 3.0, 4.0, 0.5])
    lines = [patch.get_y() for patch in ax.patches if patch.get_gid() == "shade"]
    assert lines[0] == lines[1] == lines[2] == lines[3] < lines[4] == lines[5]


def test_a_loss_too_few_is_refused():
    with pytest.raises(ValueError, match=r"one number a token; got shape \(1,\) for 2 tokens"):
        plots.token_losses(["a", "b"], [1.0])


@pytest.mark.figure("fig-four-heads")
def test_the_bills_of_four_heads(drawn):
    ax = drawn["fig-four-heads"]
    heights = [bar.get_height() for bar in ax.patches]
    assert np.isclose(heights[0], 3.388938, atol=1e-6) and np.isclose(heights[1], np.log(49_152))
    assert heights[0] < heights[2] < heights[1] < heights[3]
    bills = "the model {:.3f}, uniform {:.3f}, shuffled targets {:.3f}, permuted head {:.3f}.".format(*heights)
    assert bills in alt_text(CHAPTER, "fig-four-heads")
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels == ["the model", "uniform", "shuffled\ntargets", "permuted\nhead"]
    assert [text.get_text() for text in ax.texts] == [f"{height:.3f}" for height in heights]
    assert ax.get_ylabel() == "mean loss (nats)"
