"""The landing page: a card for each chapter with its minutes, and ways through that bring what their chapters need."""

import re

import pytest

from tools.chapters import BOOK, CHAPTERS, cells

INDEX = (BOOK / "index.md").read_text("utf-8")
WAYS = [row for row in re.findall(r"^\|.*\|$", INDEX, re.M) if "{doc}" in row]


def needs(chapter: str) -> set[str]:
    """The chapters that a chapter's first cell asks for."""
    asked = cells(chapter)[0].source.partition("**You need**")[2].partition("**Time**")[0]
    return set(re.findall(r"\{doc\}`(\d\d_\w+)`", asked))


def named(way: str) -> list[str]:
    """The chapters of a way, in its order; "{doc}`1 <01_...>` to {doc}`8 <08_...>`" names those between too."""
    spans = re.findall(r"<(\d\d_\w+)>(?:` to \{doc\}`\d+ <(\d\d_\w+)>)?", way)
    return [chapter for first, last in spans for chapter in CHAPTERS if first <= chapter <= (last or first)]


def in_numbers(role: str) -> list[str]:
    """The chapters of which `{minutes}` adds up the minutes: "1-7 10"."""
    spans = re.findall(r"(\d+)(?:-(\d+))?", role)
    return [c for first, last in spans for c in CHAPTERS if int(first) <= int(c[:2]) <= int(last or first)]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_its_card_with_its_minutes(chapter):
    (footer,) = re.findall(rf":link: {chapter}\n.*?card-footer}}\n(.*?)\n", INDEX, re.S)
    assert footer.startswith(f"{{minutes}}`{int(chapter[:2])}` · ")


@pytest.mark.parametrize("way", WAYS)
def test_a_way_brings_what_its_chapters_need_and_says_how_long_it_takes(way):
    chapters = named(way)
    for at, chapter in enumerate(chapters):
        missing = needs(chapter) - set(chapters[:at])
        assert not missing, f"{chapter} needs {missing}"
    (role,) = re.findall(r"\{minutes\}`(.*?)` \|$", way)
    assert in_numbers(role) == chapters


def test_every_chapter_is_on_a_way():
    assert set().union(*map(named, WAYS[:-1])) == set(CHAPTERS) == set(named(WAYS[-1]))  # the last is all of it
