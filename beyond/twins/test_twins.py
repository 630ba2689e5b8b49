"""Every twin prints what its page says, byte for byte, with the versions that the page names: `make twins`."""

import pytest

from beyond.twins.run import installed, printed
from tools.chapters import CHAPTERS
from tools.twins import Twin, stale, twins, versions


def test_what_is_installed_is_what_the_pages_name() -> None:
    assert installed() == versions()


@pytest.mark.parametrize("twin", [twin for chapter in CHAPTERS for twin in twins(chapter)], ids=lambda twin: twin.name)
def test_it_prints_what_the_page_says(twin: Twin) -> None:
    assert printed(twin) == twin.said


def test_none_has_changed_since_it_was_last_run() -> None:
    assert stale() == [], "after a change: .venv-twins/bin/python -m beyond.twins.run"
