"""A text small enough to train on in a second: 5,163 first names, one letter after another.

They are the first names of the United States census of 1990; `lmhead/data/README.md` says where they are from.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from lmhead._arguments import Array

__all__ = ["LETTERS", "encode", "load_names"]

LETTERS = ".abcdefghijklmnopqrstuvwxyz"
"""The vocabulary: 27 characters. `.` stands between names, and its id is 0."""


def load_names() -> tuple[str, ...]:
    """All names in alphabetical order, each once, in lower case.

    >>> names = load_names()
    >>> len(names), names[:3], names[-1]
    (5163, ('aaron', 'abbey', 'abbie'), 'zulma')
    """
    return tuple(files("lmhead").joinpath("data/names.txt").read_text("utf-8").split())


def encode(text: str) -> Array:
    """The ids of a text's characters in `LETTERS`, int64 `[len(text)]`.

    Raises:
        ValueError: a character that is not in the vocabulary, with its place.

    >>> encode(".eve.").tolist()
    [0, 5, 22, 5, 0]
    """
    strange = next((i for i, letter in enumerate(text) if letter not in LETTERS), None)
    if strange is not None:
        raise ValueError(
            f"{text[strange]!r} at place {strange} of {text[:20]!r} is not in the vocabulary: a to z in lower case, "
            "and . between names"
        )
    return np.array([LETTERS.index(letter) for letter in text], np.int64)
