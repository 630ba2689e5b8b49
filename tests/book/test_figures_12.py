"""What the figures of chapter 12 show, read from the Axes that its cells draw, and beside the fixture."""

import re

import numpy as np
import pytest

from lmhead import plots
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "12_a_real_head"


@pytest.fixture(scope="module")
def drawn(real_model):  # skips, or fails under CI, where the model cannot be had
    return axes_of(CHAPTER)


@pytest.mark.figure("fig-logit-lens")
def test_the_winners_come_up_from_far_below(drawn):
    ax = drawn["fig-logit-lens"]
    paris, mat = ax.get_lines()
    assert [paris.get_label(), mat.get_label()] == ["' Paris'", "' mat'"]
    for line in (paris, mat):
        assert np.array_equal(line.get_xdata(), np.arange(31))
        assert line.get_ydata()[:24].min() > 1000
    said = alt_text(CHAPTER, "fig-logit-lens")
    assert "over the layers 0 to 30" in said and "Both stay above a thousand up to layer 23" in said
    assert "that of Paris falls to 1 at layer 30, and that of mat to 1 at layer 29" in said
    assert [int((line.get_ydata() > 1).sum()) for line in (paris, mat)] == [30, 29]
    assert ax.get_yscale() == "log" and ax.get_xlabel() == "layer" and ax.get_ylabel() == "place of token"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["' Paris'", "' mat'"]


@pytest.mark.figure("fig-shares")
def test_one_write_stands_out(drawn):
    check_write_shares(drawn["fig-shares"], stored_shares())
    said = alt_text(CHAPTER, "fig-shares")
    numbers = "The attention of layer 24 stands at {:.2f}; next is the feed-forward of layer 30 with {:.2f}."
    shares = stored_shares()
    assert numbers.format(shares[47], shares[60]) in said
    assert "Up to layer 23 all are short" in said and np.abs(shares[:47]).max() < 0.4
    assert "All others are shorter than 0.6" in said and np.sort(np.abs(shares))[-3] < 0.6


def test_shares_from_the_fixture():
    check_write_shares(plots.write_shares(stored_shares(), ylabel="share"), stored_shares())


def test_shares_that_are_not_those_of_whole_layers_are_refused():
    with pytest.raises(
        ValueError, match=r"shares must be \[1 \+ 2 n_layers\], the embedding's first; got shape \(60,\)"
    ):
        plots.write_shares(np.zeros(60), ylabel="share")


def stored_shares():
    return load_fixture().prompt("The capital of France is", "text").shares[" Paris", " London"]


def check_write_shares(ax, shares):
    embedding, attention, feed_forward = ax.containers
    kinds = [container.get_label() for container in ax.containers]
    assert kinds == ["embedding", "attention", "feed-forward"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == kinds
    assert np.allclose([bar.get_height() for bar in embedding], shares[:1])
    assert np.allclose([bar.get_height() for bar in attention], shares[1::2])
    assert np.allclose([bar.get_height() for bar in feed_forward], shares[2::2])
    for layer, pair in enumerate(zip(attention, feed_forward, strict=True), start=1):
        assert np.allclose([bar.get_x() + bar.get_width() / 2 for bar in pair], [layer - 0.2, layer + 0.2])
    assert {bar.get_hatch() for bar in attention} == {None} and {bar.get_hatch() for bar in feed_forward} == {"/////"}
    assert ax.get_xlabel() == "layer" and ax.get_ylabel().startswith("share")


@pytest.mark.figure("fig-paragraph")
def test_each_token_stands_over_its_price(drawn):
    tokens, losses = paragraph()
    check_token_losses(drawn["fig-paragraph"], tokens, losses, ["9.62", "11.54", "11.19", "10.99", "9.34"])
    dearest = [(tokens[t].strip(), f"{losses[t]:.2f}") for t in np.argsort(losses)[::-1][:5]]
    said = alt_text(CHAPTER, "fig-paragraph")
    assert re.findall(r"(\w+)(?: with)? (\d+\.\d\d)", said) == dearest
    of = [loss for token, loss in zip(tokens, losses, strict=True) if token == " of"]
    assert "hardly a bar under the word of" in said and max(of) < 0.1 * max(losses)


def test_a_first_token_that_is_not_scored():
    tokens, _ = paragraph()
    losses = [np.nan, *load_fixture().losses["paragraph", "none"]]
    ax = plots.token_losses(tokens, losses)
    check_token_losses(ax, tokens, losses, ["9.64", "12.56", "10.47", "10.72", "9.32"])


def paragraph():
    """The paragraph's tokens and losses after the separator: every token is scored."""
    fixture = load_fixture()
    return fixture.prompts["paragraph"].tokens, fixture.losses["paragraph", "text"]


def check_token_losses(ax, tokens, losses, dearest):
    words = [text for text in ax.texts if text.get_color() != plots.style.ORANGE]
    numbers = [text.get_text() for text in ax.texts if text.get_color() == plots.style.ORANGE]
    shades = [patch for patch in ax.patches if patch.get_gid() == "shade"]
    bars = [patch for patch in ax.patches if patch.get_gid() == "loss"]
    assert [word.get_text() for word in words] == [token.lstrip(" ").replace("\n", "¶") for token in tokens]
    assert numbers == dearest

    assert len(shades) == len(tokens)
    unscored = int(np.isnan(losses).sum())
    for shade in shades[:unscored]:
        assert not shade.get_fill() and shade.get_linestyle() == "--"
    scored, losses = shades[unscored:], np.array(losses[unscored:])
    heights = np.array([-bar.get_height() for bar in bars])
    assert np.allclose(heights / heights.max(), losses / losses.max())
    darkness = [1 - shade.get_facecolor()[2] for shade in scored]
    assert np.all(np.diff(np.array(darkness)[np.argsort(losses)]) >= 0) and max(darkness) > 0.4

    for shade, bar in zip(scored, bars, strict=True):  # the bar stands below the middle of its token
        assert np.isclose(bar.get_x() + bar.get_width() / 2, shade.get_x() + shade.get_width() / 2)
        assert shade.get_y() + shade.get_height() < bar.get_y() < shade.get_y() + 2.5
    where = [(shade.get_y(), shade.get_x()) for shade in shades]
    assert where == sorted(where)  # the order of the text: left to right, line by line
    left, right = ax.get_xlim()
    assert all(left < shade.get_x() and shade.get_x() + shade.get_width() < right for shade in shades)
    for word, shade in zip(words, shades, strict=True):  # and no word runs into the next
        written, own = word.get_window_extent(), shade.get_window_extent()
        assert own.x0 - 1 < written.x0 and written.x1 < own.x1 + 1, word.get_text()
    bottom, top = ax.get_ylim()
    assert bottom > max(bar.get_y() for bar in bars) and top < 0


def test_a_paragraph_begins_on_a_line_of_its_own():
    ax = plots.token_losses(["a", ".", "\n", "\n", "b", " c"], [np.nan, 1.0, 2.0, 3.0, 4.0, 0.5])
    lines = [patch.get_y() for patch in ax.patches if patch.get_gid() == "shade"]
    assert lines[0] == lines[1] == lines[2] == lines[3] < lines[4] == lines[5]


def test_a_loss_too_few_is_refused():
    with pytest.raises(ValueError, match=r"one number per token; got shape \(1,\) for 2 tokens"):
        plots.token_losses(["a", "b"], [1.0])
