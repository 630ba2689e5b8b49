"""The book's figures. Every helper draws plain matplotlib and returns the Axes, so that a test can read what was drawn.

Importing this module makes notebooks show figures as SVG, the same bytes at every run.
"""

from lmhead._extras import extra

with extra("plots", "lmhead.plots"):
    from lmhead.plots.bars import bars
    from lmhead.plots.beside_h import beside_h
    from lmhead.plots.chain import chain
    from lmhead.plots.column_arrows import column_arrows
    from lmhead.plots.curves import curves
    from lmhead.plots.head_gradients import head_gradients
    from lmhead.plots.head_shares import head_shares
    from lmhead.plots.in_parts import in_parts
    from lmhead.plots.length_and_cosine import length_and_cosine
    from lmhead.plots.log_curves import log_curves
    from lmhead.plots.logits_by_angle import logits_by_angle
    from lmhead.plots.loss_curve import loss_curve
    from lmhead.plots.memory_lines import memory_lines
    from lmhead.plots.merging import merging
    from lmhead.plots.one_matrix import one_matrix
    from lmhead.plots.paired_bars import paired_bars
    from lmhead.plots.product import product
    from lmhead.plots.ranked import ranked
    from lmhead.plots.shift import shift
    from lmhead.plots.spans import spans
    from lmhead.plots.style import axes, use_book_style
    from lmhead.plots.token_losses import token_losses
    from lmhead.plots.two_paths import two_paths
    from lmhead.plots.unnamed_curves import unnamed_curves
    from lmhead.plots.write_shares import write_shares

__all__ = [
    "axes",
    "bars",
    "beside_h",
    "chain",
    "column_arrows",
    "curves",
    "head_gradients",
    "head_shares",
    "in_parts",
    "length_and_cosine",
    "log_curves",
    "logits_by_angle",
    "loss_curve",
    "memory_lines",
    "merging",
    "one_matrix",
    "paired_bars",
    "product",
    "ranked",
    "shift",
    "spans",
    "token_losses",
    "two_paths",
    "unnamed_curves",
    "use_book_style",
    "write_shares",
]

use_book_style()
