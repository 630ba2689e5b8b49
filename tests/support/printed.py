"""Which numbers of a text have to be printed by a cell, and whether they are."""

from __future__ import annotations


def counts(number: str) -> bool:
    """Whether a number is one that has to be printed: a decimal, or an integer from 10 up."""
    digits = number.lstrip("-")
    return not digits.isdigit() or int(digits) >= 10


def is_printed(number: str, printed: frozenset[str]) -> bool:
    """Whether a printed number, rounded to the digits of `number`, is that number; unsigned it may be an amount."""
    if not number.startswith("-"):
        printed = frozenset(other.lstrip("-") for other in printed)
    if number in printed:
        return True
    if "e" in number:
        return any("e" in other and float(other) == float(number) for other in printed)
    digits = len(number.partition(".")[2])
    return any(f"{float(other):.{digits}f}" == number for other in printed if "e" not in other)
