"""What the figures of chapter 3 show, read back from the Axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lmhead import plots, unembed
from lmhead.smollm import load_fixture

WORDS = ["cat", "mat", "dog", "sofa", "moon"]
W_U = np.array([[0.9, 0.8, -0.4, -1.6, -0.5], [0.3, 1.8, 1.0, 0.1, -1.3]])
H = np.array([1.9, 0.6])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_every_column_is_an_arrow_named_at_its_tip():
    ax = plots.column_arrows(W_U, WORDS, H)
    (arrows,) = ax.collections
    assert np.array_equal(np.array([arrows.U, arrows.V])[:, 1:], W_U)
    assert np.array_equal([arrows.U[0], arrows.V[0]], H)
    assert {label.get_text(): tuple(label.xy) for label in ax.texts} == {
        "h": tuple(H),
        **{word: tuple(column) for word, column in zip(WORDS, W_U.T, strict=True)},
    }
    assert ax.get_aspect() == 1.0  # else the angles would be drawn wrong
    assert ax.get_xlim()[1] > np.abs(W_U).max() and ax.get_xlim() == ax.get_ylim()


def test_without_a_hidden_state_only_the_columns_are_drawn():
    ax = plots.column_arrows(W_U, WORDS)
    assert np.array_equal(np.array([ax.collections[0].U, ax.collections[0].V]), W_U)
    assert [label.get_text() for label in ax.texts] == WORDS


def test_each_curve_peaks_at_its_column_and_is_as_high_as_it_is_long():
    ax = plots.logits_by_angle(W_U, WORDS, length=2.0)
    assert [label.get_text() for label in ax.texts] == WORDS
    for line, label, column in zip(ax.get_lines(), ax.texts, W_U.T, strict=True):
        angles, logits = line.get_data()
        direction = np.degrees(np.arctan2(column[1], column[0]))
        assert abs(angles[logits.argmax()] - direction) <= 0.5
        assert logits.max() == pytest.approx(2 * np.linalg.norm(column), rel=1e-3)
        assert label.xy == (angles[logits.argmax()], logits.max())
        assert label.get_color() == line.get_color()
    assert ax.get_xlabel() == "angle of h (degrees)" and ax.get_ylabel() == "logit"


def test_the_grey_bands_are_where_the_best_cosine_is_not_the_highest_logit():
    ax = plots.logits_by_angle(W_U, WORDS, length=2.0)
    angles = np.arange(-180, 181)
    turn = np.radians(angles)
    Z = unembed(np.column_stack([np.cos(turn), np.sin(turn)]), W_U)
    loses = Z.argmax(axis=1) != (Z / np.linalg.norm(W_U, axis=0)).argmax(axis=1)
    (bands,) = ax.collections
    spans = [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in bands.get_paths()]
    grey = np.any([(low <= angles) & (angles <= high) for low, high in spans], axis=0)
    assert np.array_equal(grey, loses)


def test_the_real_columns_by_length_and_cosine():
    fixture = load_fixture()
    h = fixture.prompts["She put the flowers in the"].h[-1]
    columns = fixture.W_U.astype(float)
    lengths = np.linalg.norm(columns, axis=0)
    cosines = h @ columns / lengths / np.linalg.norm(h)
    vase, pot = fixture.index(" vase"), fixture.index(" pot")
    ax = plots.length_and_cosine(lengths, cosines, {"vase": vase, "pot": pot})

    cloud, *rest = ax.get_lines()
    assert np.array_equal(cloud.get_xdata(), lengths) and np.array_equal(cloud.get_ydata(), cosines)
    for j, line, point, name in zip((vase, pot), rest[::2], rest[1::2], ("vase", "pot"), strict=True):
        x, y = line.get_data()
        assert np.allclose(x * y, lengths[j] * cosines[j])  # all of this line has the same logit
        assert (point.get_xdata()[0], point.get_ydata()[0]) == (lengths[j], cosines[j])
        assert name in [label.get_text() for label in ax.texts]
    others = np.delete(np.arange(len(lengths)), vase)
    assert (lengths * cosines)[others].max() < lengths[vase] * cosines[vase]  # no point lies above the line of vase
    assert cosines.argmax() == pot
    assert (cosines[lengths > 5] < 0).all()  # the text says so
    assert ax.get_xlim()[0] < lengths.min() and ax.get_xlim()[1] > lengths.max()
    assert ax.get_ylim()[0] < cosines.min() and ax.get_ylim()[1] > cosines.max()
