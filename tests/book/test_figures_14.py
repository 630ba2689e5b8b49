"""What the figures of chapter 14 show, read from the Axes that its cells draw."""

import numpy as np
import pytest

from tests.support.in_parts import parts_of
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
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale(), ax.get_yscale()) == ("vocabulary", "MiB", "log", "log")
    said = alt_text(CHAPTER, "fig-bytes-on-the-wire")
    low, high = logits.get_ydata()[[0, -1]]
    (crossing,) = vocab[logits.get_ydata() == dH.get_ydata()]
    assert f"rise from {low:g} to {high:g} MiB" in said and f"at {crossing:,.0f} tokens" in said
    assert f"dH, flat at {dH.get_ydata()[0]:g} MiB" in said
    assert f"message is flat at {message.get_ydata()[0]:g} MiB" in said
    assert crossing == d_model * devices


@pytest.mark.figure("fig-exchanges")
def test_each_shard_sends_a_message_hears_all_and_adds_its_part():
    words, arrows = parts_of(axes_of(CHAPTER)["fig-exchanges"])
    shards = {"tokens 0 to 2": 3, "tokens 3 to 9": 7, "tokens 10, 11": 2}
    assert words[4:10] == [word for name, width in shards.items() for word in (name, f"keeps $dW_U$ [d, {width}]")]
    up, back, down = arrows[::3], arrows[1::3], arrows[2::3]
    for group, rises, style in ((up, True, "-"), (back, False, "--"), (down, False, "-")):
        assert len(group) == 3 and {(end > start, line) for start, end, line in group} == {(rises, style)}
    assert max(start for start, *_ in down) < min(end for _, end, _ in back), "what is added leads further down"
    assert words[10:] == ["message\n[3, N]", "each hears\nall of them", "part of $dH$\n[N, d]"]
    assert "tokens 0 to 2, 3 to 9 and 10, 11" in alt_text(CHAPTER, "fig-exchanges")
