"""Every view by its name, with the Python function that says which numbers it shows."""

from lmhead.widgets import (
    _directions,
    _gradient_step,
    _head_cost,
    _loss,
    _overflow,
    _probabilities,
    _prompts,
    _shapes,
)

NUMBERS = {
    "probabilities": _probabilities.numbers,
    "prompts": _prompts.numbers,
    "directions": _directions.numbers,
    "loss": _loss.numbers,
    "gradient_step": _gradient_step.numbers,
    "overflow": _overflow.numbers,
    "shapes": _shapes.numbers,
    "head_cost": _head_cost.numbers,
}
