"""How numbers are written, here and in `write.js` alike: without scripts a page shows the same digits as with them."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext


def rounded(x: float, spec: str) -> str:
    """`x` in a format; a tie goes away from 0, as in JavaScript (Python's own goes to the even digit)."""
    with localcontext(rounding=ROUND_HALF_UP):
        return format(Decimal(x + 0.0), spec)  # + 0.0: a negative zero has no sign


def stored(x: float) -> float:
    """A number with 12 digits, as notebooks keep it: the last ones of a float64 differ from processor to processor."""
    return float(f"{x:.12g}")


def decimals(x: float) -> str:
    """Four decimals; one digit and a power of ten for what they would show as 0, and from a million on."""
    if not math.isfinite(x):
        return str(float(x))
    return rounded(x, ".1e" if 0 < abs(x) < 5e-5 or abs(x) >= 1e6 else ".4f")


def short(x: float) -> str:
    """The same without zeros at the end, for a number that a slider sets."""
    return re.sub(r"\.(\d*?)0+$", lambda found: found[1] and f".{found[1]}", decimals(x))


def grouped(n: int) -> str:
    """A whole number with its thousands apart."""
    return f"{n:,}"


def size(n_bytes: float) -> str:
    """Bytes in the unit that reads best, with four digits."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while n_bytes >= 1024 and len(units) > 1:
        n_bytes /= 1024
        units.pop(0)
    return f"{float(rounded(n_bytes, '.4g')):,.15g} {units[0]}"
