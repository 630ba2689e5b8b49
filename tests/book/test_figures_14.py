"""What the figure of chapter 14 shows, read from the Axes that its cell draws."""

import numpy as np
import pytest

from tests.support.ran import axes_of
from tools.chapters import alt_text

CHAPTER = "14_several_machines"


@pytest.mark.figure("fig-bytes-on-the-wire")
def test_only_the_logits_grow_with_the_vocabulary_and_the_message_is_the_smallest():
    ax = axes_of(CHAPTER)["fig-bytes-on-the-wire"]
    logits, dH, message = lines = ax.get_lines()
    assert [line.get_label() for line in lines] == ["its logits", "its part of dH", "its message"]
    vocab, positions, d_model, devices = 2.0 ** np.arange(13, 19), 8192, 2048, 8
    sent = (4 * positions * vocab / devices, 4 * positions * d_model + 0 * vocab, 3 * 8 * positions + 0 * vocab)
    for line, count in zip(lines, sent, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), vocab)
        np.testing.assert_allclose(line.get_ydata() * 2**20, count)
    assert (message.get_ydata() < dH.get_ydata()).all() and (message.get_ydata() < logits.get_ydata()).all()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("vocabulary", "MiB", "log")
    said = alt_text(CHAPTER, "fig-bytes-on-the-wire")
    low, high = logits.get_ydata()[[0, -1]]
    assert f"rise from {low:g} to {high:g} MiB" in said
    assert f"dH is flat at {dH.get_ydata()[0]:g} MiB, its message flat at {message.get_ydata()[0]:g} MiB" in said
