"""The page made from the docstrings: nothing public is missing, and nothing of their Markdown is left."""

import operator
import re
from pathlib import Path

import pytest

import lmhead

MODULES = [
    "lmhead",
    *(f"lmhead.{name}" for name in ("names", "sharded", "smollm", "widgets", "quiz", "check", "plots")),
]


@pytest.fixture(scope="module")
def page(site: Path) -> str:
    return (site / "book/package.html").read_text("utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_entry(page: str, module: str) -> None:
    shown = set(re.findall(r'<dt class="sig [^"]*" id="([\w.]+)"', page))
    one = operator.attrgetter(*module.split(".")[1:])(lmhead) if "." in module else lmhead
    missing = {f"{one.__name__}.{name}" for name in one.__all__} - shown
    assert not missing, f"add to book/package.md: {sorted(missing)}"


def test_the_list_of_modules_is_whole() -> None:
    assert {f"lmhead.{name}" for name in lmhead._ON_FIRST_USE} | {"lmhead"} == set(MODULES)


def test_code_and_formulas_are_set_as_such(page: str) -> None:
    body = re.sub(r"<annotation.*?</annotation>|<pre.*?</pre>", "", page, flags=re.S)
    assert "<cite>" not in body, "a `code` of a docstring that was not rewritten"
    assert not re.search(r">[^<]*\$[^$<]+\$", body), "a formula of a docstring that was not rewritten"
