"""Every token's logit while the hidden state is turned once around, for a W_U with d_model 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.curves import curves
from lmhead.plots.style import GREY


def logits_by_angle(W_U: ArrayLike, labels: Sequence[str], length: float) -> Axes:
    """One cosine curve a column of W_U `[2, vocab]`, for an h of that length; grey where the best cosine loses."""
    columns = np.asarray(W_U, float)
    angles = np.arange(-180, 181)
    turn = np.radians(angles)
    logits = length * np.column_stack([np.cos(turn), np.sin(turn)]) @ columns
    best_cosine = (logits / np.linalg.norm(columns, axis=0)).argmax(axis=1)
    loses = logits.argmax(axis=1) != best_cosine

    ax = curves(angles, dict(zip(labels, logits.T, strict=True)), xlabel="angle of h (degrees)", ylabel="logit")
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()  # each curve is named at its top instead
    for j, label in enumerate(labels):
        top = logits[:, j].argmax()
        ax.annotate(label, (angles[top], logits[top, j]), xytext=(0, 5), textcoords="offset points", ha="center")
    low, high = logits.min() * 1.1, logits.max() * 1.2
    ax.fill_between(angles, low, high, where=loses.tolist(), color=GREY, alpha=0.18, linewidth=0)
    ax.set(xlim=(-180, 180), ylim=(low, high), xticks=range(-180, 181, 60))
    return ax
