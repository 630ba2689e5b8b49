"""The landing page: a card for each chapter with its minutes, and ways through that bring what their chapters need."""

import math
import re

import pytest

from tools.chapters import BOOK, CHAPTERS, cells, minutes

INDEX = (BOOK / "index.md").read_text("utf-8")
WAYS = [row for row in re.findall(r"^\|.*\|$", INDEX, re.M) if "{doc}" in row]


def needs(chapter: str) -> set[str]:
    """The chapters that a chapter's first cell asks for."""
    asked = cells(chapter)[0].source.partition("**You need**")[2].partition("**Time**")[0]
    return set(re.findall(r"\{doc\}`(\d\d_\w+)`", asked))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_its_card_with_its_minutes(chapter):
    (footer,) = re.findall(rf":link: {chapter}\n.*?card-footer}}\n(.*?)\n", INDEX, re.S)
    assert footer.startswith(f"{math.ceil(minutes(chapter))} minutes · ")


@pytest.mark.parametrize("way", WAYS)
def test_a_way_brings_what_its_chapters_need_and_says_how_long_it_takes(way):
    chapters = re.findall(r"<(\d\d_\w+)>", way)
    for at, chapter in enumerate(chapters):
        missing = needs(chapter) - set(chapters[:at])
        assert not missing, f"{chapter} needs {missing}"
    assert way.endswith(f"| {sum(math.ceil(minutes(chapter)) for chapter in chapters)} minutes |")


def test_every_chapter_is_on_a_way():
    assert set(re.findall(r"<(\d\d_\w+)>", "".join(WAYS))) == set(CHAPTERS)
