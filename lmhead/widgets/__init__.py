"""Figures that a reader moves: each function is one call in a cell, and shows controls above a picture with numbers.

The controls are real `ipywidgets`; the picture is an `anywidget` view that computes and draws in the browser. So one
cell is live in JupyterLab, Notebook 7 and VS Code, and on the static page, which has no kernel. Where no script runs,
a table that `lmhead` computed stands in.

A view is two files: `_loss.py` says what it is given, which numbers it shows (`numbers`) and in which words (`said`);
`loss.js` has the same numbers and the `scene`, which is all that is drawn and announced. `render.js` draws every scene.

All words on the screen come from Python: pass `words={"temperature": "Temperatur"}` to replace some of them.
"""

from lmhead._extras import extra

with extra("widgets", "lmhead.widgets"):
    from lmhead.widgets._directions import directions
    from lmhead.widgets._gradient_step import gradient_step
    from lmhead.widgets._head_cost import head_cost
    from lmhead.widgets._loss import loss
    from lmhead.widgets._overflow import overflow
    from lmhead.widgets._probabilities import probabilities
    from lmhead.widgets._prompts import probabilities_of_prompts
    from lmhead.widgets._shapes import shapes
    from lmhead.widgets._training import training

__all__ = [
    "directions",
    "gradient_step",
    "head_cost",
    "loss",
    "overflow",
    "probabilities",
    "probabilities_of_prompts",
    "shapes",
    "training",
]
