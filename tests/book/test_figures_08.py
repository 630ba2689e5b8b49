"""What the figures of chapter 8 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from lmhead import cross_entropy
from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "08_numerical_stability"
FORMATS = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


@pytest.mark.figure("fig-room-for-exp")
def test_each_bar_is_the_room_in_which_exp_is_a_number():
    ax = axes_of(CHAPTER)["fig-room-for-exp"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(FORMATS)
    assert len(ax.patches) == len(FORMATS)
    for bar, number in zip(ax.patches, FORMATS.values(), strict=True):
        low, high = bar.get_x(), bar.get_x() + bar.get_width()
        with np.errstate(over="ignore"):
            assert np.exp(number(low - 0.02)) == 0 < np.exp(number(low + 0.02))
            assert np.exp(number(high - 0.02)) < np.inf == np.exp(number(high + 0.02))
    assert [text.get_text() for text in ax.texts] == ["-17.34", "11.09", "-103.97", "88.72", "-745.13", "709.78"]
    edges = [text.get_text() for text in ax.texts]
    reach = "float16 reaches from {} to {}, float32 from {} to {}, float64 from {} to {}.".format(*edges)
    assert reach in alt_text(CHAPTER, "fig-room-for-exp")
    left, right = ax.get_xlim()
    assert left < -745.2 and right > 709.8 and ax.get_xlabel() == "logit"
    assert ax.yaxis_inverted(), "the first format stands on top"


@pytest.mark.figure("fig-vanishing-loss")
def test_only_the_log1p_form_of_the_loss_stays_on_the_line():
    ax = axes_of(CHAPTER)["fig-vanishing-loss"]
    careful, *others = ax.get_lines()
    names = ["log1p form", "shift first", "two steps"]
    assert [line.get_label() for line in (careful, *others)] == names
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names
    lead = careful.get_xdata()
    rows = np.zeros((lead.size, 1000))
    rows[:, 7] = lead
    exact = cross_entropy(rows, np.full(lead.size, 7), reduction="none")
    np.testing.assert_allclose(careful.get_ydata(), exact, rtol=1e-14)
    assert np.ptp(np.diff(np.log(exact))) < 1e-9, "the caption: a straight line"
    assert not np.isnan(careful.get_ydata()).any() and lead[-1] == 46, "which goes on to the end of the axis"

    said = alt_text(CHAPTER, "fig-vanishing-loss")
    last = {}
    for line in others:
        drawn = line.get_ydata()
        assert (np.abs(drawn / exact - 1)[lead < 34] < 0.02).all(), "it follows at first"
        shown = drawn[~np.isnan(drawn)]
        assert np.isnan(drawn[len(shown) :]).all(), "0 has no place on this axis"
        assert np.unique(shown[-12:]).size < 12 and (np.diff(shown[-12:]) <= 0).all(), "it falls in steps"
        last[line.get_label()] = lead[len(shown) - 1]
    assert last["two steps"] < last["shift first"] < 46
    assert f"up to lead {lead[-1]:.0f}," in said
    assert said.endswith(f"end at lead {last['two steps']:.1f}, shift first at lead {last['shift first']:.1f}.")
    assert ax.get_yscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lead of the true token", "loss (nats)")
