"""What the figures of chapter 10 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import cross_entropy, head_grads, shift_targets, tie, unembed
from tests.support.ran import axes_of
from tools.chapters import alt_text, code_cells, output_texts

CHAPTER = "10_the_tied_gradient"
WORDS = ["the", "cat", "sat", "on", "mat", "dog", "ran"]
IDS = np.array([0, 1, 2, 3, 0, 4])
M = np.tri(6) / np.arange(1, 7)[:, None]


def network():
    """The chapter's E and A."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 3)), rng.normal(size=(3, 3))


def loss(E, A):
    return cross_entropy(unembed(np.tanh(M @ E[IDS] @ A), tie(E)), shift_targets(IDS))


def parts(E, A):
    """The gradient of E as the input and as the output; the chapter measures it first."""
    h = np.tanh(M @ E[IDS] @ A)
    grads = head_grads(h, tie(E), shift_targets(IDS))
    dx = M.T @ (grads.h * (1 - h**2)) @ A.T
    return np.eye(7)[IDS].T @ dx, grads.W_U.T


def test_this_is_the_chapters_network():
    printed = [text for cell in code_cells(CHAPTER) for text in output_texts(cell)]
    assert f"loss of the tied network {loss(*network()):.4f} nats\n" in printed


@pytest.mark.figure("fig-two-paths")
def test_two_paths_lead_up_from_E_and_two_gradients_back():
    ax = axes_of(CHAPTER)["fig-two-paths"]
    texts = [text for text in ax.texts if text.get_text()]
    at = {text.get_text(): text.get_position() for text in texts}
    chain = ["x", "h", "logits", "loss"]
    assert [at[name][0] for name in chain] == sorted(at[name][0] for name in chain)
    assert len({at[name][1] for name in chain}) == 1 and at["E"][1] < at["x"][1]
    assert len(ax.patches) == 5 and {"[T, d]", "[T, V]", "[V, d]"} <= set(at)

    arrows = [a for a in ax.texts if getattr(a, "arrow_patch", None) is not None]
    vertical = [a for a in arrows if a.xy[0] == a.get_position()[0]]
    up = [a for a in vertical if a.xy[1] > a.get_position()[1]]
    down = [a for a in vertical if a.xy[1] < a.get_position()[1]]
    assert len(arrows) == 7 and len(up) == len(down) == 2
    assert [a.arrow_patch.get_linestyle() for a in up] == ["-"] * 2
    assert [a.arrow_patch.get_linestyle() for a in down] == ["--"] * 2
    for group in (up, down):  # one below x, one below the logits
        assert [round(a.xy[0]) for a in group] == [round(at["x"][0]), round(at["logits"][0])]
    said = alt_text(CHAPTER, "fig-two-paths")
    for name in (*chain[:3], "E"):
        assert f"{name} [" in said


@pytest.mark.figure("fig-two-gradients")
def test_the_two_gradients_of_the_toy_network():
    as_input, as_output = (np.linalg.norm(part, axis=1) for part in parts(*network()))
    ax = axes_of(CHAPTER)["fig-two-gradients"]
    heights = [bar.get_height() for bar in ax.patches]
    assert np.allclose(heights, [*as_input, *as_output], rtol=0, atol=1e-8)
    assert [label.get_text() for label in ax.get_xticklabels()] == WORDS
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["as input", "as output"]
    assert np.array_equal(np.array(heights[:7]) == 0, [False] * 4 + [True] * 3), "the caption: only what was read"
    assert min(heights[7:]) > 0, "and every word has an output part"
    larger = np.array(heights[:7]) > heights[7:]
    assert larger.any() and not larger.all(), "the text: neither is larger throughout"
    assert ax.get_ylabel() == "size of the row's gradient" and ax.get_ylim()[0] == 0
    said = alt_text(CHAPTER, "fig-two-gradients")
    assert "As input, the words the, cat, sat and on have gradients, and mat, dog and ran have exactly 0." in said


@pytest.mark.figure("fig-half-gradients")
def test_the_whole_gradient_ends_lowest():
    ax = axes_of(CHAPTER)["fig-half-gradients"]
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == ["both", "input alone", "output alone"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)
    for (name, line), (use_input, use_output) in zip(lines.items(), ((1, 1), (1, 0), (0, 1)), strict=True):
        E, A = network()
        expected = [loss(E, A)]
        for _ in range(300):
            as_input, as_output = parts(E, A)
            E = E - 0.3 * (use_input * as_input + use_output * as_output)
            expected.append(loss(E, A))
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-6, err_msg=name)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(301))
    both, first, second = (line.get_ydata() for line in lines.values())
    assert both[-1] < second[-1] < first[-1] < both[0] == first[0] == second[0]
    said = alt_text(CHAPTER, "fig-half-gradients")
    assert "The curve of both parts ends lowest; output alone ends well above it, and input alone highest." in said
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss in nats")
