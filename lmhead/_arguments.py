"""What every verb of the package asks of its input, said once."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

REDUCTIONS = ("mean", "sum", "none")

# Leaving the range of a float is meant here: exp of a far smaller logit is 0, a loss beyond the largest float is inf.
quietly = np.errstate(over="ignore", under="ignore", invalid="ignore")


def as_array(x: ArrayLike, name: str) -> Array:
    """An array in this machine's byte order; lists of unequal rows and masked arrays are refused."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost: mask logits with -inf, targets with -100")
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array; its rows differ in length") from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_floats(x: ArrayLike, name: str) -> Array:
    """An array of float32 or float64: float16 is widened to float32, integers to float64, the rest is refused."""
    array = as_array(x, name)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name} must be float16, float32, float64 or integers; got {array.dtype}")
    return array


def as_ids(x: ArrayLike, name: str) -> Array:
    """An array of any integer type."""
    ids = as_array(x, name)
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"{name} must be token ids of an integer type; got {ids.dtype}")
    return ids


def as_logits(logits: ArrayLike) -> Array:
    """Logits `[..., vocab]` as float32 or float64, with at least one token."""
    z = as_floats(logits, "logits")
    if z.ndim == 0:
        raise ValueError("logits must have a vocabulary axis; got a single number")
    if z.shape[-1] == 0:
        raise ValueError(f"logits must score at least one token; got shape {z.shape}, an empty vocabulary")
    return z


def reject_bad_rows(z: Array, lead_shape: tuple[int, ...], positions: Array | None = None) -> None:
    """Refuse a row of `z` `[N, vocab]` that no softmax has a value for: NaN, +inf, or -inf everywhere.

    `positions` `[N]` says where the rows came from, counted in the flattened `lead_shape`.
    """
    bad = np.flatnonzero(~np.isfinite(z.max(axis=-1, initial=-np.inf)))  # NaN and +inf reach the maximum
    if not bad.size:
        return
    row = z[bad[0]]
    flat = int(bad[0] if positions is None else positions[bad[0]])
    where = position_name(flat, lead_shape, "logits row")
    for is_bad, what in ((np.isnan(row), "NaN"), (row == np.inf, "+inf")):
        if is_bad.any():
            raise ValueError(f"{where} has {what} at token {is_bad.argmax()}: the numbers before the head went wrong")
    raise ValueError(f"{where} is -inf at all {row.size} tokens: the mask leaves none to choose")


def as_targets(
    targets: ArrayLike, lead_shape: tuple[int, ...], vocab_size: int, ignore_index: int
) -> tuple[Array, Array]:
    """Checked targets, flat: the positions that count and the token id at each, both int64 `[n_valid]`."""
    ids = as_ids(targets, "targets")
    if ids.shape != lead_shape:
        raise ValueError(_shape_message(ids.shape, lead_shape, vocab_size))
    ignored = as_int(ignore_index, "ignore_index")
    ids = ids.ravel()
    counts = ids != ignored
    outside = counts & ((ids < 0) | (ids >= vocab_size))
    if outside.any():
        at = int(outside.argmax())
        raise IndexError(
            f"{position_name(at, lead_shape, 'target')} is {ids[at]}; token ids go from 0 to {vocab_size - 1}, "
            f"and ignore_index is {ignored}"
        )
    positions = np.flatnonzero(counts)
    return positions, ids[positions].astype(np.int64)


def _shape_message(targets: tuple[int, ...], lead: tuple[int, ...], vocab_size: int) -> str:
    logits = (*lead, vocab_size)
    said = f"targets must have the shape of the logits less the vocabulary axis; logits {logits}, targets {targets}"
    if targets == logits:
        return f"{said}: these look like one-hot rows or probabilities, pass token ids (targets.argmax(-1))"
    if targets == (*lead, 1):
        return f"{said}: drop the last axis, targets[..., 0]"
    if len(logits) >= 3 and targets == (logits[0], *logits[2:]):
        return f"{said}: the logits look like [N, vocab, positions], pass np.moveaxis(logits, 1, -1)"
    return said


def as_int(value: Any, name: str) -> int:
    """A Python int out of any integer type, within 64 bits; bool and float are refused."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer; got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must fit in 64 bits; got {number}")
    return number


def as_number(value: Any, name: str) -> float:
    """A Python float out of any real number; bool, texts and arrays are refused."""
    if isinstance(value, bool | np.bool_ | str | bytes) or np.ndim(value):
        raise TypeError(f"{name} must be one number; got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be one number; got {value!r}") from None


def require_reduction(reduction: str, allowed: tuple[str, ...] = REDUCTIONS) -> None:
    """Refuse a reduction that is not one of `allowed`."""
    if reduction not in allowed:
        raise ValueError(f"reduction must be one of {', '.join(map(repr, allowed))}; got {reduction!r}")


def mean_count(n_valid: int, n_positions: int, ignore_index: int) -> int:
    """How many positions a mean divides by; none at all is an error, since 0/0 has no value."""
    if n_valid:
        return n_valid
    what = "there are no targets"
    if n_positions:
        every = "the only target is" if n_positions == 1 else f"all {n_positions} targets are"
        what = f"{every} ignore_index ({ignore_index})"
    raise ValueError(f'{what}: a mean over 0 positions is 0/0; reduction="sum" gives 0, or skip this batch')


def as_temperature(temperature: float) -> float:
    """A finite temperature above 0."""
    t = as_number(temperature, "temperature")
    if t == 0:
        raise ValueError("temperature 0 divides by zero; its limit is the largest logit, use greedy(logits)")
    if not 0 < t < np.inf:
        raise ValueError(f"temperature must be a finite number above 0; got {t}")
    return t


def position_name(flat: int, shape: tuple[int, ...], what: str) -> str:
    """`what 7` in a flat array, `what (1, 3)` in a nested one, `the what` where there is only one."""
    if not shape:
        return f"the {what}"
    index = tuple(int(i) for i in np.unravel_index(flat, shape))
    return f"{what} {index[0] if len(index) == 1 else index}"
