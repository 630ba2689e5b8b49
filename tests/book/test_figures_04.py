"""What the figures of chapter 4 show, read from the Axes that its cells draw.

Its table of public models is counted again from their configurations.
"""

import re

import numpy as np
import pytest

from tests.support.ran import axes_of
from tools.chapters import alt_text, code_cells

CHAPTER = "04_weight_tying"


def table_of_models():
    """The chapter's `models`: name -> (d_model, vocab_size, all parameters, tied)."""
    (source,) = [cell.source for cell in code_cells(CHAPTER) if cell.source.startswith("models = {")]
    found: dict[str, dict[str, tuple[int, int, int, bool]]] = {}
    exec(source, found)  # one literal of our own notebook
    return found["models"]


def gpt2(d, V, layers, positions):
    """GPT-2: learned positions, biases everywhere, layer norms with two vectors each."""
    attention = d * 3 * d + 3 * d + d * d + d
    feed_forward = d * 4 * d + 4 * d + 4 * d * d + d
    return V * d + positions * d + layers * (attention + feed_forward + 4 * d) + 2 * d


def neox(d, V, layers):
    """GPT-NeoX (Pythia): as GPT-2 less the learned positions, and with two vocabulary matrices."""
    return gpt2(d, V, layers, positions=0) + V * d


def llama(d, V, layers, heads, kv_heads, hidden, *, tied, d_head=None, qkv_bias=False, norms=2):
    """The Llama family: grouped-query attention, a gated feed-forward, norms with one vector each."""
    q = heads * (d_head or d // heads)
    kv = kv_heads * (d_head or d // heads)
    attention = d * (q + 2 * kv) + q * d + (q + 2 * kv if qkv_bias else 0)
    return V * d * (1 if tied else 2) + layers * (attention + 3 * d * hidden + norms * d) + d


COUNTED = {
    "GPT-2": gpt2(768, 50_257, layers=12, positions=1024),
    "SmolLM2 135M": llama(576, 49_152, 30, 9, 3, 1536, tied=True),
    "Pythia 160M": neox(768, 50_304, layers=12),
    "Qwen2 0.5B": llama(896, 151_936, 24, 14, 2, 4864, tied=True, qkv_bias=True),
    "Llama 3.2 1B": llama(2048, 128_256, 16, 32, 8, 8192, tied=True),
    "Gemma 2 2B": llama(2304, 256_000, 26, 8, 4, 9216, tied=True, d_head=256, norms=4),
    "Mistral 7B": llama(4096, 32_000, 32, 32, 8, 14_336, tied=False),
    "Qwen2 7B": llama(3584, 152_064, 28, 28, 4, 18_944, tied=False, qkv_bias=True),
    "Llama 3.1 8B": llama(4096, 128_256, 32, 32, 8, 14_336, tied=False),
    "Gemma 2 27B": llama(4608, 256_000, 46, 32, 16, 36_864, tied=True, d_head=128, norms=4),
}


def test_the_totals_are_those_of_the_configurations():
    assert {name: total for name, (_, _, total, _) in table_of_models().items()} == COUNTED


def test_the_models_stand_in_order_of_size():
    totals = [total for _, _, total, _ in table_of_models().values()]
    assert totals == sorted(totals)  # the figure's caption says so


@pytest.mark.figure("fig-head-shares")
def test_each_bar_is_the_share_of_one_matrix():
    models = table_of_models()
    tied = [is_tied for *_, is_tied in models.values()]
    percent = [100 * d * V / (total + is_tied * d * V) for d, V, total, is_tied in models.values()]
    ax = axes_of(CHAPTER)["fig-head-shares"]
    assert np.allclose([bar.get_width() for bar in ax.patches], percent)
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [not one for one in tied]
    labels = [f"{value:.1f} %, {'tied' if one else 'not tied'}" for value, one in zip(percent, tied, strict=True)]
    assert [label.get_text() for label in ax.texts] == labels
    assert [label.get_text() for label in ax.get_yticklabels()] == list(models)
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first model at the top"
    assert ax.get_xlim()[0] == 0 and ax.get_xlim()[1] > max(percent)
    assert ax.get_xlabel() == "the saving: one V x d matrix, in percent of the model with two"

    # the alt text: model by model in the order of the bars, and which are not tied
    shares = [rf"{value:.1f}(?: percent)? of {re.escape(name)}" for name, value in zip(models, percent, strict=True)]
    said = alt_text(CHAPTER, "fig-head-shares").replace("SmolLM2", "SmolLM2 135M")
    assert re.search(".*?".join(shares), said) and said.startswith("Ten horizontal bars.")
    untied = [label.get_text() for label, bar in zip(ax.get_yticklabels(), ax.patches, strict=True) if bar.get_hatch()]
    assert untied == ["Pythia 160M", "Mistral 7B", "Qwen2 7B", "Llama 3.1 8B"]
    assert "Pythia 160M (not tied)" in said and "Llama 3.1 8B (none of the three tied)" in said


@pytest.mark.figure("fig-one-matrix")
def test_the_row_of_a_word_is_its_column():
    ax = axes_of(CHAPTER)["fig-one-matrix"]
    table = np.random.default_rng(0).normal(size=(7, 3))
    words = ["the", "cat", "sat", "on", "mat", "dog", "ran"]
    at = {text.get_position(): text.get_text() for text in ax.texts}
    numbers = [(x, y, float(text)) for (x, y), text in at.items() if re.fullmatch(r"-?\d+\.\d\d", text)]
    left = sorted((-y, x, number) for x, y, number in numbers if x < 3)  # row by row
    right = sorted((x, -y, number) for x, y, number in numbers if x > 3)  # column by column
    assert len(left) == len(right) == 21
    assert [number for *_, number in left] == [number for *_, number in right]
    np.testing.assert_allclose([number for *_, number in left], table.ravel(), atol=0.0051)
    rows = [text for (x, y), text in sorted(at.items(), key=lambda item: -item[0][1]) if x < 0]
    columns = [text for (x, y), text in sorted(at.items()) if x > 3 and text in words]
    assert rows == columns == words
    lit = [patch for patch in ax.patches if patch.get_linewidth() > 1]
    assert len(lit) == 6 and {round(patch.get_y()) for patch in lit if patch.get_x() < 3} == {-5}  # the row of mat
    assert {round(patch.get_x() - 5.2) for patch in lit if patch.get_x() > 3} == {4}
    assert {"E  7 × 3", "W_U = E.T  3 × 7"} <= set(at.values())
    said = alt_text(CHAPTER, "fig-one-matrix")
    assert "Left E, 7 by 3" in said and "its transpose, 3 by 7" in said
