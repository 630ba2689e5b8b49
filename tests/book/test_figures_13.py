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


@pytest.mark.figure("fig-merging")
def test_the_stacks_are_the_chunks_exponentials_before_and_after_conversion():
    ax = axes_of(CHAPTER)["fig-merging"]
    first, second = np.array([2.0, 1.0, 0.1]), np.array([3.0, -1.0])
    stacks = [np.exp(first - 2), np.exp(second - 3), np.exp(first - 3), np.exp([*(second - 3), *(first - 3)])]
    drawn = {x: [bar for bar in ax.patches if round(bar.get_x() + bar.get_width() / 2) == x] for x in range(4)}
    for x, terms in enumerate(stacks):
        np.testing.assert_allclose([bar.get_height() for bar in drawn[x]], terms)
        np.testing.assert_allclose([bar.get_y() for bar in drawn[x]], [0, *np.cumsum(terms)[:-1]], atol=1e-15)
    totals = [f"S = {terms.sum():.4f}" for terms in stacks]
    assert [text.get_text() for text in ax.texts] == totals
    assert [label.get_text().partition("\n")[2] for label in ax.get_xticklabels()] == [
        "unit $e^{2}$",
        "unit $e^{3}$",
        "unit $e^{3}$",
        "unit $e^{3}$",
    ]
    assert [bool(bar.get_hatch()) for bar in drawn[3]] == [True, True, False, False, False], "told apart by hatching"
    said = alt_text(CHAPTER, "fig-merging")
    places = [said.index(total) for total in totals]
    assert places == sorted(places) and said.startswith("Four stacks of boxes.")
    assert ax.get_ylabel() == "sum of the terms" and ax.get_ylim()[0] == 0
