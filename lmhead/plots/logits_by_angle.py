"""Every token's logit while the hidden state is turned once around, for a W_U with d_model 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import GREY, axes


def logits_by_angle(W_U: ArrayLike, labels: Sequence[str], length: float) -> Axes:
    """One cosine curve per column of W_U `[2, vocab]`, for an h of that length; grey where the best cosine loses."""
    columns = np.asarray(W_U, float)
    angles = np.arange(-180, 181)
    turn = np.radians(angles)
    logits = length * np.column_stack([np.cos(turn), np.sin(turn)]) @ columns
    best_cosine = (logits / np.linalg.norm(columns, axis=0)).argmax(axis=1)
    loses = logits.argmax(axis=1) != best_cosine

    ax = axes(height=3.4)
    for label, curve in zip(labels, logits.T, strict=True):
        (line,) = ax.plot(angles, curve)
        top = (angles[curve.argmax()], curve.max())
        white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        ax.annotate(label, top, (0, 7), textcoords="offset points", ha="center", color=line.get_color(), bbox=white)
    low, high = 1.1 * logits.min(), 1.2 * logits.max()
    ax.fill_between(angles, low, high, where=loses.tolist(), color=GREY, alpha=0.18, linewidth=0)
    ax.set(xlim=(-180, 180), ylim=(low, high), xticks=range(-180, 181, 60))
    ax.set(xlabel="angle of h (degrees)", ylabel="logit")
    return ax
