"""What each attention and each feed-forward wrote into the gap between two logits."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmhead.plots.style import BLUE, ORANGE, axes


def write_shares(shares: ArrayLike, *, ylabel: str, ax: Axes | None = None) -> Axes:
    """Two bars for each layer, attention beside feed-forward, from the shares `[1 + 2 n_layers]` of all writes.

    The first share is the embedding's, drawn at layer 0. Colour and hatching tell the two kinds apart.
    """
    values = np.asarray(shares, float)
    if values.ndim != 1 or values.size % 2 == 0:
        raise ValueError(f"shares must be [1 + 2 n_layers], the embedding's first; got shape {values.shape}")
    ax = axes(height=3.2) if ax is None else ax
    layers = np.arange(1, values.size // 2 + 1)
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.bar([0], values[:1], width=0.4, color="0.45", label="embedding")
    ax.bar(layers - 0.2, values[1::2], width=0.4, color=BLUE, label="attention")
    ax.bar(
        layers + 0.2, values[2::2], width=0.4, facecolor="white", edgecolor=ORANGE, hatch="/////", label="feed-forward"
    )
    ax.set_xlabel("layer")
    ax.set_ylabel(ylabel)
    ax.legend()
    return ax
