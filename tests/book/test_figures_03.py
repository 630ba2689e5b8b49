"""What the figures of chapter 3 show, read from the Axes that its cells draw."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmhead import plots, unembed
from lmhead.smollm import load_fixture
from tests.support.ran import axes_of
from tools.chapters import alt_text, code_cells, output_texts

CHAPTER = "03_columns_are_directions"
WORDS = ["cat", "mat", "dog", "sofa", "moon"]
W_U = np.array([[0.9, 0.8, -0.4, -1.6, -0.5], [0.3, 1.8, 1.0, 0.1, -1.3]])
H = np.array([1.9, 0.6])


def test_these_are_the_arrays_of_the_chapter():
    (printed,) = [text for cell in code_cells(CHAPTER) for text in output_texts(cell) if "length of h: 1." in text]
    for word, column, z in zip(WORDS, W_U.T, unembed(H, W_U), strict=True):
        assert f"{word:5s} length {np.linalg.norm(column):.4f}" in printed and f"logit {z:7.4f}" in printed


@pytest.mark.figure("fig-columns-as-arrows")
def test_every_column_is_an_arrow_named_at_its_tip():
    ax = axes_of(CHAPTER)["fig-columns-as-arrows"]
    (arrows,) = ax.collections
    assert np.array_equal([arrows.U[0], arrows.V[0]], H)
    assert np.array_equal(np.array([arrows.U, arrows.V])[:, 1:], W_U)
    named = {label.get_text(): tuple(label.xy) for label in ax.texts}
    assert named == {"h": tuple(H), **dict(zip(WORDS, map(tuple, W_U.T), strict=True))}
    assert ax.get_aspect() == 1.0, "else the angles are drawn wrong"
    assert ax.get_xlim() == ax.get_ylim() and ax.get_xlim()[1] > np.abs(W_U).max()
    said = alt_text(CHAPTER, "fig-columns-as-arrows")
    lengths = dict(zip(WORDS, np.linalg.norm(W_U, axis=0), strict=True))
    longest, shortest = max(lengths, key=lengths.get), min(lengths, key=lengths.get)
    assert "cat, mat, dog, sofa and moon" in said and f"{longest} is the longest, {shortest} the shortest" in said
    assert np.linalg.norm(H) > lengths[longest], "h is longer than all of them"
    h_angle, cat_angle = np.degrees(np.arctan2(*np.column_stack([H, W_U[:, WORDS.index("cat")]])[::-1]))
    assert abs(h_angle - cat_angle) < 2, "and lies almost on top of cat"


def test_without_a_hidden_state_only_the_columns_are_drawn():
    ax = plots.column_arrows(W_U, WORDS)
    assert np.array_equal([ax.collections[0].U, ax.collections[0].V], W_U)
    assert [label.get_text() for label in ax.texts] == WORDS
    plt.close(ax.figure)


@pytest.mark.figure("fig-logits-by-angle")
def test_each_curve_peaks_at_its_column_and_is_as_high_as_it_is_long():
    ax = axes_of(CHAPTER)["fig-logits-by-angle"]
    assert [label.get_text() for label in ax.texts] == WORDS
    for line, label, column in zip(ax.get_lines(), ax.texts, W_U.T, strict=True):
        angles, logits = line.get_data()
        assert abs(angles[logits.argmax()] - np.degrees(np.arctan2(column[1], column[0]))) <= 0.5
        assert logits.max() == pytest.approx(2 * np.linalg.norm(column), rel=1e-3)
        assert label.xy == (angles[logits.argmax()], logits.max())
        assert label.get_color() == line.get_color()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("angle of h (degrees)", "logit")
    tops = {label.get_text(): label.xy[1] for label in ax.texts}
    highest, lowest = max(tops, key=tops.get), min(tops, key=tops.get)
    said = alt_text(CHAPTER, "fig-logits-by-angle")
    assert f"The curve of {highest} is the highest, that of {lowest} the lowest at its top." in said
    assert "from -180 to 180 degrees" in said and ax.get_xlim() == (-180, 180)


@pytest.mark.figure("fig-logits-by-angle")
def test_the_grey_bands_are_where_the_best_cosine_is_not_the_highest_logit():
    ax = axes_of(CHAPTER)["fig-logits-by-angle"]
    angles = np.arange(-180, 181)
    turn = np.radians(angles)
    Z = unembed(np.column_stack([np.cos(turn), np.sin(turn)]), W_U)
    loses = Z.argmax(axis=1) != (Z / np.linalg.norm(W_U, axis=0)).argmax(axis=1)
    (bands,) = ax.collections
    spans = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bands.get_paths()]
    grey = np.any([(low <= angles) & (angles <= high) for low, high in spans], axis=0)
    assert np.array_equal(grey, loses)

    # the alt text: each band by the two words that it lies between, the wide ones first
    assert "Wide grey bands lie between mat and its neighbours cat and dog, narrower ones" in alt_text(
        CHAPTER, "fig-logits-by-angle"
    )
    cosine = (Z / np.linalg.norm(W_U, axis=0)).argmax(axis=1)
    between = [{WORDS[cosine[a]], WORDS[Z[a].argmax()]} for a in [int(sum(span) / 2) + 180 for span in spans]]
    width = [high - low for low, high in spans]
    widest = [between[i] for i in np.argsort(width)[::-1][:2]]
    assert sorted(map(sorted, widest)) == [["cat", "mat"], ["dog", "mat"]]


@pytest.mark.figure("fig-length-and-cosine")
def test_the_real_columns_by_length_and_cosine():
    fixture = load_fixture()
    h = fixture.prompt("She put the flowers in the", "text").h[-1]
    columns = fixture.W_U.astype(float)
    lengths = np.linalg.norm(columns, axis=0)
    cosines = h @ columns / lengths / np.linalg.norm(h)
    marked = {"vase": fixture.index(" vase"), "flower": fixture.index(" flower")}
    ax = axes_of(CHAPTER)["fig-length-and-cosine"]

    cloud, *rest = ax.get_lines()
    assert f"A cloud of {len(cloud.get_xdata())} points" in alt_text(CHAPTER, "fig-length-and-cosine")
    assert np.allclose(cloud.get_xdata(), lengths) and np.allclose(cloud.get_ydata(), cosines)
    for (name, j), line, point, label in zip(marked.items(), rest[::2], rest[1::2], ax.texts, strict=True):
        x, y = line.get_data()
        assert np.allclose(x * y, lengths[j] * cosines[j]), "all of this line has the same logit"
        assert (point.get_xdata()[0], point.get_ydata()[0]) == pytest.approx((lengths[j], cosines[j]))
        assert label.get_text() == name
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length of the column", "cosine with h")
    products = lengths * cosines
    assert products.argmax() == marked["vase"], "no point lies above the line of vase"
    assert cosines.argmax() == marked["flower"], "the highest point"
    higher = cosines > cosines[marked["vase"]]
    assert higher.sum() == 18 and (lengths[higher] < lengths[marked["vase"]]).all(), "18 points, to the left of vase"
    assert (cosines[lengths > 5] < 0).all(), "the text: the longest columns point away from h"
    assert ax.get_xlim()[0] < lengths.min() and ax.get_xlim()[1] > lengths.max()
    assert ax.get_ylim()[0] < cosines.min() and ax.get_ylim()[1] > cosines.max()
