"""What the figures of chapter 13 show, read from the Axes that its cells draw; and its table of public models."""

import ast

import numpy as np
import pytest

from tests.support.in_parts import parts_of
from tests.support.ran import axes_of
from tools.chapters import alt_text, code_cells

CHAPTER = "13_the_head_at_scale"


def table_of_models(chapter):
    (source,) = [cell.source for cell in code_cells(chapter) if cell.source.startswith("models = {")]
    return ast.literal_eval(source.removeprefix("models = "))


def test_the_models_are_those_of_chapter_4():
    assert table_of_models(CHAPTER) == table_of_models("04_weight_tying")  # where they are counted again


@pytest.mark.figure("fig-two-passes")
def test_each_chunk_leaves_its_state_and_gets_the_lse_of_all():
    words, arrows = parts_of(axes_of(CHAPTER)["fig-two-passes"])
    chunks = ["tokens 0 to 2", "tokens 3 to 5", "tokens 6 to 8", "tokens 9, 10"]
    kept = [f"$dW_U$ [d, {width}]" for width in (3, 3, 3, 2)]
    assert words[4:12] == [word for pair in zip(chunks, kept, strict=True) for word in pair]
    up, back, down = arrows[::3], arrows[1::3], arrows[2::3]
    for group, rises, style in ((up, True, "-"), (back, False, "--"), (down, False, "-")):
        assert len(group) == 4 and {(end > start, line) for start, end, line in group} == {(rises, style)}
    assert max(start for start, *_ in down) < min(end for _, end, _ in back), "what is added leads further down"
    said = alt_text(CHAPTER, "fig-two-passes")
    assert words[12:] == ["1st pass:\n[3, N]", "2nd pass:\nlse", "part of\n$dH$"]
    assert "tokens 0 to 2, 3 to 5, 6 to 8 and 9, 10" in said


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
