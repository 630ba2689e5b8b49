"""What every verb of the package asks of its arguments, said once; what is converted here is used as converted."""

from __future__ import annotations

import math
import operator
import textwrap
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Reduction = Literal["mean", "sum", "none"]

# Leaving the range of a float is meant here: exp of a far smaller logit is 0, a loss beyond the largest float is inf.
quietly = np.errstate(over="ignore", under="ignore", invalid="ignore")


# --- Arrays ---


def as_array(x: ArrayLike, name: str) -> Array:
    """An array in this machine's byte order; what cannot become one, or would lose something, is refused."""
    if _is_masked(x):
        raise TypeError(f"{name} is a masked array, whose mask would be lost: mask logits with -inf, targets with -100")
    if getattr(x, "requires_grad", False) is True:
        raise TypeError(f"{name} is a tensor that needs grad, which NumPy cannot follow; use .detach()")
    # bfloat16 is "V" to NumPy, bytes of no known kind; a tensor's dtype has no kind. To name all others would be slow.
    if getattr(dtype := getattr(x, "dtype", None), "kind", "V") == "V" and str(dtype).endswith("bfloat16"):
        remedy = ".float()" if hasattr(x, "float") else ".astype(np.float32)"
        raise TypeError(f"{name} is bfloat16, which NumPy does not have; use {remedy}")
    try:
        array = np.asarray(x)
    except Exception as error:  # whatever an object's own conversion raises
        if "inhomogeneous" in str(error):
            raise ValueError(f"{name} must be a rectangular array; its rows differ in length") from None
        raise TypeError(f"{name} cannot become an array: {_said(error)}") from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_numbers(x: ArrayLike, name: str) -> Array:
    """An array of a type that the package computes with: float16, float32, float64 or any integers."""
    array = as_array(x, name)
    if array.dtype.kind not in "iu" and array.dtype.char not in "efd":  # the letters of float16, float32, float64
        got = type(x).__name__ if array.dtype == object and not array.ndim else array.dtype
        raise TypeError(f"{name} must be float16, float32, float64 or integers; got {got}")
    return array


def float_type(*arrays: Array) -> np.dtype[Any]:
    """What they are computed in: the widest of them, float16 taken as float32 and integers as float64."""
    return np.result_type(np.float32, *(x.dtype if x.dtype.kind == "f" else np.float64 for x in arrays))


def as_floats(x: ArrayLike, name: str) -> Array:
    """An array of float32 or float64."""
    array = as_numbers(x, name)
    return array.astype(float_type(array), copy=False)


def as_ids(x: ArrayLike, name: str) -> Array:
    """An array of any integer type."""
    ids = as_array(x, name)
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"{name} must be token ids of an integer type; got {ids.dtype}")
    return ids if ids.size else ids.astype(np.int64)  # an empty list is float64 to NumPy


def as_logits(logits: ArrayLike) -> Array:
    """Logits `[..., vocab]` as float32 or float64, with at least one token."""
    z = as_floats(logits, "logits")
    if z.ndim == 0:
        raise ValueError("logits must have a vocabulary axis; got a single number")
    _require_vocabulary(z.shape)
    return z


def reject_bad_rows(z: Array, lead: tuple[int, ...], positions: Array | None = None) -> None:
    """Refuse a row of `z` `[N, vocab]` that no softmax has a value for: NaN, +inf, or -inf everywhere.

    `positions` `[N]` says where the rows came from, counted in the flattened `lead`.
    """
    bad = np.flatnonzero(~np.isfinite(z.max(axis=-1, initial=-np.inf)))  # NaN and +inf reach the maximum
    if not bad.size:
        return
    row = z[bad[0]]
    where = position_name(int(bad[0] if positions is None else positions[bad[0]]), lead, "logits row")
    for is_bad, what in ((np.isnan(row), "NaN"), (row == np.inf, "+inf")):
        if is_bad.any():
            raise ValueError(f"{where} has {what} at token {is_bad.argmax()}: the numbers before the head went wrong")
    raise ValueError(f"{where} is -inf at all {row.size} tokens: the mask leaves none to choose")


def as_head(h: ArrayLike, W_U: ArrayLike, b: ArrayLike | None) -> tuple[Array, Array, Array | None]:
    """Parts of a head that fit together: h and b in the type that is computed in, W_U as it lies in memory."""
    h, W_U, b = as_numbers(h, "h"), as_numbers(W_U, "W_U"), None if b is None else as_numbers(b, "b")
    if W_U.ndim != 2:
        raise ValueError(f"W_U must be [d_model, vocab]; got shape {W_U.shape}")
    if h.ndim == 0:
        raise ValueError("h must be [..., d_model]; got a single number")
    (d_model, vocab_size), given = W_U.shape, h.shape[-1]
    if d_model != given == vocab_size:
        said = f"W_U must be [d_model, vocab]; got {W_U.shape}, h has d_model {given}"
        raise ValueError(f"{said}: this looks like lm_head.weight, pass its transpose")
    if given != d_model:
        said = f"h must be [..., d_model] with d_model {d_model} as in W_U {W_U.shape}; got {h.shape}"
        turned = h.ndim == 2 and h.shape[0] == d_model
        raise ValueError(f"{said}: this looks like [d_model, positions], pass h.T" if turned else said)
    if b is not None and b.shape != (vocab_size,):
        raise ValueError(f"b must be [vocab] = {(vocab_size,)}, one number per token; got {b.shape}")
    dtype = float_type(h, W_U) if b is None else float_type(h, W_U, b)
    return h.astype(dtype, copy=False), W_U, None if b is None else b.astype(dtype, copy=False)


# --- Targets ---


class Targets(NamedTuple):
    """The positions that count."""

    ids: Array  # [n]        the token that each has to predict, int64
    positions: Array  # [n]  where it stands, counted in the flattened `lead`
    lead: tuple[int, ...]  # the shape that all positions stand in
    ignore_index: int

    def divisor(self, reduction: Reduction) -> int:
        """What a sum over the positions is divided by; a mean over none is an error, since 0/0 has no value."""
        if reduction != "mean":
            return 1
        if len(self.ids):
            return len(self.ids)
        what, n = "there are no targets", math.prod(self.lead)
        if n:
            every = "the only target is" if n == 1 else f"all {n} targets are"
            what = f"{every} ignore_index ({self.ignore_index})"
        raise ValueError(f'{what}: a mean over 0 positions is 0/0; reduction="sum" gives 0, or skip this batch')

    def in_place(self, values: Array) -> Array:
        """`values` `[n, ...]` where their positions stand, and 0 where a position is ignored."""
        if len(self.ids) < math.prod(self.lead):
            counted, values = values, np.zeros((math.prod(self.lead), *values.shape[1:]), values.dtype)
            values[self.positions] = counted
        return values.reshape((*self.lead, *values.shape[1:]))


def as_targets(targets: ArrayLike, lead: tuple[int, ...], vocab_size: int, ignore_index: int) -> Targets:
    """Token ids for the positions `lead` of logits over `vocab_size` tokens."""
    _require_vocabulary((*lead, vocab_size))
    ids, ignored = as_ids(targets, "targets"), as_int(ignore_index, "ignore_index")
    if ids.shape != lead:
        raise ValueError(_shape_message(ids.shape, lead, vocab_size))
    ids = ids.ravel()
    counts = ids != ignored
    outside = counts & ((ids < 0) | (ids >= vocab_size))
    if outside.any():
        at = int(outside.argmax())
        said = f"{position_name(at, lead, 'target')} is {ids[at]}"
        raise IndexError(f"{said}; token ids go from 0 to {vocab_size - 1}, and ignore_index is {ignored}")
    positions = np.flatnonzero(counts)
    return Targets(ids[positions].astype(np.int64), positions, lead, ignored)


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


# --- Single values ---


def as_int(value: Any, name: str) -> int:
    """A Python int out of any integer type, within 64 bits; bool and float are refused."""
    single = _single(value, name, "iu")
    try:
        number = operator.index(single)
    except TypeError:
        raise TypeError(f"{name} must be an integer; got {_said(value)}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must fit in 64 bits; got {_said(number)}")
    return number


def as_number(value: Any, name: str) -> float:
    """A Python float out of any real number; bool, texts and arrays are refused."""
    single = _single(value, name, "iuf")
    try:
        return float(single)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be one number; got {_said(value)}") from None


def _single(value: Any, name: str, kinds: str) -> Any:
    """The value, None where it is not one of these kinds; Fraction, Decimal and huge integers are objects to NumPy."""
    array = as_array(value, name)
    return None if array.ndim or array.dtype.kind not in kinds + "O" else value


def as_temperature(temperature: Any) -> float:
    """A finite temperature above 0."""
    t = as_number(temperature, "temperature")
    if t == 0:
        raise ValueError("temperature 0 divides by zero; its limit is the largest logit, use greedy(logits)")
    if not 0 < t < np.inf:
        raise ValueError(f"temperature must be a finite number above 0; got {t}")
    return t


def require_reduction(reduction: Any, allowed: tuple[str, ...] = get_args(Reduction)) -> None:
    """Refuse a reduction that is not one of `allowed`."""
    if not isinstance(reduction, str) or reduction not in allowed:
        raise ValueError(f"reduction must be one of {', '.join(map(repr, allowed))}; got {_said(reduction)}")


def position_name(flat: int, shape: tuple[int, ...], what: str) -> str:
    """`what 7` in a flat array, `what (1, 3)` in a nested one, `the what` where there is only one."""
    if not shape:
        return f"the {what}"
    index = tuple(int(i) for i in np.unravel_index(flat, shape))
    return f"{what} {index[0] if len(index) == 1 else index}"


def _require_vocabulary(shape: tuple[int, ...]) -> None:
    if shape[-1] == 0:
        raise ValueError(f"logits must score at least one token; got shape {shape}, an empty vocabulary")


def _is_masked(x: Any) -> bool:
    return isinstance(x, np.ma.MaskedArray) or (isinstance(x, list | tuple) and any(map(_is_masked, x)))


def _said(value: Any) -> str:
    """In one line, whatever it is."""
    return textwrap.shorten(repr(value), 200, placeholder=" ...")
