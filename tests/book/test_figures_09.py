"""What the figures of chapter 9 show, read from the Axes that its cells draw."""

from itertools import combinations

import numpy as np
import pytest

from lmhead import cross_entropy_grad, log_softmax, softmax
from lmhead.names import encode, load_names
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "09_a_head_that_learns"


@pytest.fixture(scope="module")
def ids():
    return encode("." + ".".join(load_names()) + ".")


def floor_of(read, wanted):
    """The entropy of the counted table, pair by pair."""
    counts = np.zeros((27, 27))
    np.add.at(counts, (read, wanted), 1)
    return -np.log((counts / counts.sum(axis=1, keepdims=True))[read, wanted]).mean()


@pytest.mark.figure("fig-learning")
def test_the_loss_falls_from_log_v_to_the_floor(ids):
    ax = axes_of(CHAPTER)["fig-learning"]
    loss, floor = ax.get_lines()
    assert [loss.get_label(), floor.get_label()] == ["loss", "floor"]
    y = loss.get_ydata()
    assert y.size == 501 and y[0] == pytest.approx(np.log(27)) and (np.diff(y) < 0).all()
    assert floor.get_ydata() == pytest.approx(floor_of(ids[:-1], ids[1:]))
    assert 0 < y[-1] - floor.get_ydata()[0] < 0.01
    assert (y[0] - y[50]) / (y[0] - y[-1]) > 0.9, "the caption: most of the way in the first fifty steps"
    # the first two steps, position by position
    W_U = np.zeros((27, 27))
    for step in (0, 1):
        assert y[step] == pytest.approx(-log_softmax(W_U)[ids[:-1], ids[1:]].mean(), rel=1e-9)
        W_U -= 50 * np.eye(27)[ids[:-1]].T @ cross_entropy_grad(W_U[ids[:-1]], ids[1:])
    said = alt_text(CHAPTER, "fig-learning")
    assert f"from {y[0]:.2f}" in said and f"floor at {floor.get_ydata()[0]:.2f}" in said
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss (nats per character)")


@pytest.mark.figure("fig-four-faults")
def test_four_curves_carry_letters_and_no_names(ids):
    ax = axes_of(CHAPTER)["fig-four-faults"]
    curves = {line.get_label(): line.get_ydata() for line in ax.get_lines() if line.get_label() in "ABCD"}
    assert sorted(curves) == list("ABCD") and ax.get_legend() is None
    letters = {text.get_text(): text.get_position() for text in ax.texts}
    assert set(letters) == {*"ABCD", "floor", "log V"}
    for name, y in curves.items():
        step, height = letters[name]
        assert height == y[int(step)], "each letter stands on its curve"
        others = [other[int(step)] for key, other in curves.items() if key != name]
        assert np.abs(np.array(others) - height).min() > 0.1, "and on no other"
    ax.figure.canvas.draw()
    badges = [text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_text() in curves]
    assert not any(a.overlaps(b) for a, b in combinations(badges, 2)), "no letter covers another"
    dotted = sorted(line.get_ydata()[0] for line in ax.get_lines() if line.get_linestyle() == ":")
    floor, start = floor_of(ids[:-1], ids[1:]), np.log(27)
    assert dotted == pytest.approx([floor, start])
    a, b, c, d = (curves[name] for name in "ABCD")
    assert a[-1] > floor + 0.2 and (np.diff(a) < 0).all() and a[-1] > floor_of(ids[:-2], ids[2:])
    assert (np.diff(b) > 0).sum() > 30 and floor < b[10:].min() and b[10:].max() < start
    assert c[-1] < 0.05 and d[0] > start + 2 and floor < d[-1] < floor + 0.15
    assert f"D starts at {d[0]:.1f}" in alt_text(CHAPTER, "fig-four-faults")
    assert ax.get_ylim()[1] > d[0]


@pytest.mark.figure("fig-held-out")
def test_the_two_losses_part():
    ax = axes_of(CHAPTER)["fig-held-out"]
    trained, held_out = ax.get_lines()
    assert [trained.get_label(), held_out.get_label()] == ["trained on", "held out"]
    assert [line.get_ydata()[0] for line in (trained, held_out)] == pytest.approx([np.log(27)] * 2)
    assert (np.diff(trained.get_ydata()) < 0).all()
    y = held_out.get_ydata()
    best = int(y.argmin())
    assert 0 < best < 120 and (np.diff(y[best:]) > 0).all() and (np.diff(y[:best]) < 0).all()
    # again from the names, a position at a time
    names, order = load_names(), np.random.default_rng(0).permutation(5163)
    text = [encode(".." + names[i] + ".") for i in order[:200]]
    state = np.concatenate([27 * ids[:-2] + ids[1:-1] for ids in text])
    wanted = np.concatenate([ids[2:] for ids in text])
    W_U = np.zeros((729, 27))
    for step in range(3):
        assert trained.get_ydata()[step] == pytest.approx(-np.log(softmax(W_U))[state, wanted].mean(), rel=1e-9)
        np.add.at(W_U, state, -50 * cross_entropy_grad(W_U[state], wanted))
    said = alt_text(CHAPTER, "fig-held-out")
    assert f"falls to {y[best]:.2f}" in said and f"from {y[0]:.2f}" in said


@pytest.mark.figure("fig-smoothed")
def test_the_smoothed_loss_turns_where_p_is_the_soft_target():
    ax = axes_of(CHAPTER)["fig-smoothed"]
    plain, smoothed = ax.get_lines()
    assert [plain.get_label(), smoothed.get_label()] == ["plain", "smoothed"]
    lead, y = smoothed.get_xdata(), smoothed.get_ydata()
    assert plain.get_ydata() == pytest.approx(np.log1p(26 * np.exp(-lead)), rel=1e-9)
    assert y == pytest.approx(plain.get_ydata() + 0.1 * 26 / 27 * lead, rel=1e-9), "26/27 of a tenth of the lead"
    at = int(y.argmin())
    assert np.exp(lead[at]) / (np.exp(lead[at]) + 26) == pytest.approx(0.9 + 0.1 / 27, abs=0.005)
    said = alt_text(CHAPTER, "fig-smoothed")
    assert f"falls to {y[at]:.2f} at a lead of {lead[at]:.1f}" in said and f"to {y[-1]:.2f} at a lead of 20" in said
    assert f"from {y[0]:.2f}" in said
