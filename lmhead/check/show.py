"""Values as short text, the same at every run: 4 decimals, small arrays in full, large ones by their shape."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lmhead._arguments import Array

SHOWN = 12  # entries of an array that are written out
LONGEST = 60  # characters of a text


def as_numbers(value: Any) -> Array | None:
    """An array of integers or floats out of numbers, lists, arrays and what NumPy reads; None for whatever else."""
    array = _read(value)
    return array if array is not None and array.dtype.kind in "iuf" else None


def numbers_within(value: Any) -> Array | None:
    """Floats out of numbers of any type: bools, fractions, complex ones on the real line, masks that mask nothing.

    >>> numbers_within([True, False]), numbers_within(2 + 0j), numbers_within("2")
    (array([1., 0.]), array(2.), None)
    """
    array = _read(np.asarray(value) if isinstance(value, np.ma.MaskedArray) and not np.ma.is_masked(value) else value)
    if array is None or array.dtype.kind not in "biufcO":
        return None
    if array.dtype.kind == "c" and not array.imag.any():
        array = array.real
    try:
        return array.astype(float) if array.dtype.kind != "c" else None
    except Exception:  # an object of any class may refuse in any way
        return None


def _read(value: Any) -> Array | None:
    """The value as an array, if it is one without a mask; a class may refuse with any exception or warn on the way."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(value)
        except Exception:  # a ragged list, a tensor that needs its gradient, a number type that NumPy does not know
            return None


def show(value: Any) -> str:
    """A value as short text.

    >>> show(np.float64(2.71828)), show([1.0, 2e-9]), show(np.ones((4, 9))), show(None), show({})
    ('2.7183', '[1.0, 2.000e-09]', 'an array [4, 9]', 'None', 'a dict')
    """
    if value is None or isinstance(value, bool | str):
        return repr(value) if len(repr(value)) <= LONGEST else f"{repr(value)[:LONGEST]} ..."
    array = _read(value)
    if array is None or array.dtype.kind not in "biuf":
        name = type(value).__name__
        return f"an array of {value.dtype}" if type(value) is np.ndarray else f"a{'n' * (name[0] in 'aeiou')} {name}"
    if array.size > SHOWN:
        return f"an array {list(array.shape)}"
    text = _nested(array.tolist())
    return f"({text[1:-1]})" if isinstance(value, tuple) else text


def show_arguments(arguments: dict[str, Any]) -> str:
    """Arguments by name, as in a call.

    >>> show_arguments({"z": [2.0, 1.0], "y": 1})
    'z = [2.0, 1.0], y = 1'
    """
    return ", ".join(f"{name} = {show(value)}" for name, value in arguments.items())


def show_both(got: Any, expected: Any) -> tuple[str, str]:
    """Two values of which one is wrong: where they are long, the first entry at which they differ.

    >>> show_both(0.41703, 0.41705)
    ('0.417 (off by 2.0e-05)', '0.417')
    """
    texts = show(got), show(expected)
    x, y = as_numbers(got), as_numbers(expected)
    if x is None or y is None:
        return texts
    if x.dtype.kind == "f" and y.dtype.kind in "iu":
        return (
            f"{texts[0]}, {'floats' if x.ndim else 'a float'}",
            f"{texts[1]}, {'integers' if y.ndim else 'an integer'}",
        )
    if x.shape != y.shape or texts[0] != texts[1]:
        return texts
    if x.size > SHOWN:
        at = tuple(int(i) for i in np.argwhere(x != y)[np.argmax(~np.isclose(x, y)[x != y])])
        return f"{show(x[at])} at {list(at)}", f"{show(y[at])} at {list(at)}"
    differ = x != y  # infinities that agree have no difference
    return f"{texts[0]} (off by {np.abs(x[differ] - y[differ]).max():.1e})", texts[1]


def shape_text(value: Any) -> str:
    """The shape of a value, in words for one number.

    >>> shape_text([[1, 2, 3]]), shape_text(1.5)
    ('shape (1, 3)', 'one number')
    """
    shape = np.shape(value)
    return f"shape {shape}" if shape else "one number"


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(entry) for entry in value)}]"
    if not isinstance(value, float):
        return str(value)
    if value == 0 or not np.isfinite(value) or 1e-3 <= abs(value) < 1e6:
        return str(round(value, 4) + 0.0)  # + 0.0 turns -0.0 into 0.0
    return f"{value:.3e}"
