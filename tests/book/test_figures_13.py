"""What the figures of chapter 13 show, read from the Axes that its cells draw; and its table of public models."""

import ast

import numpy as np
import pytest

from tests.support.ran import axes_of
from tools.chapters import alt_text, code_cells

CHAPTER = "13_the_head_at_scale"


def table_of_models(chapter):
    (source,) = [cell.source for cell in code_cells(chapter) if cell.source.startswith("models = {")]
    return ast.literal_eval(source.removeprefix("models = "))


def test_the_models_are_those_of_chapter_4():
    assert table_of_models(CHAPTER) == table_of_models("04_weight_tying")  # where they are counted again


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.figure("fig-memory-of-logits")
def test_the_logits_grow_four_times_as_fast_as_the_head_and_a_chunk_does_not():
    ax = axes_of(CHAPTER)["fig-memory-of-logits"]
    logits, head, chunk = ax.get_lines()
    assert [line.get_label() for line in ax.get_lines()] == legend_of(ax) == ["all logits", "W_U", "one chunk"]
    vocab = logits.get_xdata()
    assert vocab[0] == 8_000 and vocab[-1] == 256_000
    for line, numbers in ((logits, 8192 * vocab), (head, 2048 * vocab), (chunk, 8192 * 2048 + 0 * vocab)):
        np.testing.assert_array_equal(line.get_xdata(), vocab)
        np.testing.assert_allclose(line.get_ydata() * 2**20, 4 * numbers)
    said = alt_text(CHAPTER, "fig-memory-of-logits")
    rise = np.ptp(head.get_ydata()) / np.ptp(logits.get_ydata())
    assert "W_U rises a quarter as fast" in said and rise == pytest.approx(1 / 4)
    assert "one chunk of logits stays flat near zero" in said and np.ptp(chunk.get_ydata()) == 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("vocabulary", "MiB")


@pytest.mark.figure("fig-sum-stands-still")
def test_the_float16_sum_stops_at_2048():
    ax = axes_of(CHAPTER)["fig-sum-stands-still"]
    true, short = ax.get_lines()
    assert [line.get_label() for line in ax.get_lines()] == legend_of(ax) == ["true sum", "float16"]
    terms = true.get_xdata()
    np.testing.assert_array_equal(terms, np.arange(1, 4097))
    np.testing.assert_array_equal(true.get_ydata(), terms)
    total = np.float16(0)
    for term, drawn in zip(terms, short.get_ydata(), strict=True):
        total += np.float16(1)
        assert drawn == total == min(term, 2048)
    said = alt_text(CHAPTER, "fig-sum-stands-still")
    assert f"rises along the diagonal to {true.get_ydata()[-1]:.0f}." in said
    assert f"follows it to {short.get_ydata().max():.0f} and is flat from there on" in said
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("terms added", "sum")
