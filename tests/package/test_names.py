"""The names that chapter 9 trains on: the file is the one that was made, and its note says from what."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from lmhead.names import LETTERS, encode, load_names

DATA = Path(__file__).parents[2] / "lmhead" / "data"


def test_the_file_is_the_one_that_was_made() -> None:
    found = hashlib.sha256((DATA / "names.txt").read_bytes()).hexdigest()
    assert found in (DATA / "README.md").read_text("utf-8"), "names.txt changed: say in its README how, with its hash"


def test_each_name_stands_there_once_in_order_and_in_the_vocabulary() -> None:
    names = load_names()
    assert list(names) == sorted(set(names)) and len(names) == 5163
    assert all(re.fullmatch("[a-z]{2,11}", name) for name in names)
    assert {"mary", "james", "linda", "robert", "aaron", "zulma"} <= set(names)


def test_every_letter_has_the_id_of_its_place() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 27 and LETTERS[0] == "."
    ids = encode(LETTERS)
    assert ids.dtype == np.int64 and ids.tolist() == list(range(27))
    assert encode("").shape == (0,) and encode("").dtype == np.int64


@pytest.mark.parametrize(
    ("text", "said"),
    [("Zoe", "'Z' at place 0 of 'Zoe'"), ("zoë", "'ë' at place 2"), ("mary ann", "' ' at place 4"), ("a\n", r"'\\n'")],
)
def test_a_letter_outside_the_vocabulary_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        encode(text)
