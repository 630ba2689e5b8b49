"""What the book states and no computation can check is stated twice: see tools/pins.py."""

import copy
import json
import os
import subprocess
from functools import cache

import pytest

from tools import pins
from tools.chapters import ROOT
from tools.pins import NOTEBOOKS, OTHERS, PAGES, PINS, changes, name_of, notebook, released, rounded, stated, texts_in

now = cache(stated)  # not while the tests are collected, which each worker does
NAMES = sorted({*(path.stem for path in NOTEBOOKS), *map(name_of, PAGES), *OTHERS})


@pytest.mark.parametrize("name", NAMES)
def test_stated_as_pinned(name):
    pin = PINS / f"{name}.json"
    kept = json.loads(pin.read_text("utf-8")) if pin.exists() else None
    assert now()[name] == kept, f"{name}: if the change is meant, make pins, and read what it shows"


def test_no_pin_has_outlived_its_page():
    assert {pin.name.removesuffix(".json") for pin in PINS.glob("*.json")} == set(now()) == set(NAMES)
    assert len(NAMES) == len(NOTEBOOKS) + len(PAGES) + len(OTHERS), "two pages have one pin file"


def test_whatever_people_read_is_pinned():
    patterns = ["*.md", "*.ipynb", "*.bib", "*LICENSE*", ".github/ISSUE_TEMPLATE/*", ":!tests"]
    run = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    listed = {ROOT / name for name in run.stdout.splitlines()} or pytest.skip("not a git checkout")
    assert listed <= {*NOTEBOOKS, *PAGES}


def test_each_module_of_the_package_and_of_the_pages_is_pinned():
    python = {path for folder in ("lmhead", "book/_ext") for path in (ROOT / folder).rglob("*.py")}
    scripts = {ROOT / "book/_ext/live_python/cells.js", ROOT / "book/_ext/live_python/outputs.js"}
    assert {ROOT / name for name in now()["modules"]} >= python | scripts


CODE = {
    ".py": '"""What it does."""\nNAME, SAID = "one", "two words"\nprint(f"{SAID} and more")',
    ".js": '// It is "not said".\nconst name = "one"; /* nor\n`this one` */ say("two words", `${name} and more`);',
}
SAID = {".py": ["one", "two words", " and more"], ".js": ["one", "two words", "${name} and more"]}


@pytest.mark.parametrize("suffix", CODE)
def test_texts_in_code_are_what_is_neither_comment_nor_docstring(suffix):
    assert texts_in(CODE[suffix], suffix) == SAID[suffix]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("lmhead/plots/shift.py", '"reads"', '"writes"'),
        ("lmhead/check/show.py", " of ", " von "),
        ("book/_ext/light_theme.py", None, '\nLABEL = "Two words"\n'),
        ("book/_ext/live_python/cells.js", "Run all", "Run one"),
    ],
)
def test_an_edit_of_what_code_says_is_noticed(monkeypatch, tmp_path, name, old, new):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(pins, "ROOT", tmp_path)
    found = []
    code = (ROOT / name).read_text("utf-8")
    for text in (code, code.replace(old, new) if old else code + new):
        path.write_text(text, "utf-8")
        found.append(pins.modules())
    assert found[0] != found[1] and list(found[0]) == [name]


def test_of_changes_those_of_a_release_are_pinned():
    title, growing, first = (
        "# Changes\n\n",
        "## 2 (unreleased)\n\n- New.\n\n### More\n\n- Newer.\n\n",
        "## 1\n\n- Old.\n",
    )
    assert released(title + growing + first) == title + first
    assert released(title + growing) == title


# ---- what a pin notices, tried on a small notebook

QUESTION = {
    "kind": "number",
    "question": "How many?",
    "answer": 3.0,
    "tolerance": 0.01,
    "unit": "bits",
    "because": "So.",
}
QUESTION["wrong"] = [{"value": 2.0, "message": "These are nats."}]
SLIDER = {"description": "t", "min": 0.1, "max": 2.0, "step": 0.1, "value": 1.0}
SMALL = {  # a word and a bound stand behind the 40 letters that a pin shows: its digest tells them apart
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "widgets": {
            "application/vnd.jupyter.widget-state+json": {
                "state": {
                    "1": {"state": {"view": "quiz", "questions": [QUESTION], "words": {"check": "Check"}}},
                    "2": {"state": SLIDER},
                }
            }
        }
    },
    "cells": [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": "It costs five bits per token of the text. Divide by log 2.",
        },
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["asserts"]},
            "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": "5.0\n"}],
            "source": "assert np.allclose(x, 5, atol=0.0, rtol=1e-15)",
        },
        {"cell_type": "markdown", "id": "c", "metadata": {}, "source": "That is all."},
    ],
}


def state_of(book, model):
    return book["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"][model]["state"]


def set_to(place, key, value):
    place[key] = value


EDITS = {
    "a word": lambda book: set_to(
        book["cells"][0], "source", "It costs five bits per token of the text. Multiply by log 2."
    ),
    "cells exchanged": lambda book: book["cells"].reverse(),
    "code that nothing asserts": lambda book: set_to(
        book["cells"][1], "source", "x = 6\nassert np.allclose(x, 5, atol=0.0, rtol=1e-15)"
    ),
    "an indentation": lambda book: set_to(
        book["cells"][1], "source", "  assert np.allclose(x, 5, atol=0.0, rtol=1e-15)"
    ),
    "a bound": lambda book: set_to(book["cells"][1], "source", "assert np.allclose(x, 5, atol=0.0, rtol=1)"),
    "a tolerance": lambda book: set_to(state_of(book, "1")["questions"][0], "tolerance", 0.2),
    "a unit": lambda book: set_to(state_of(book, "1")["questions"][0], "unit", "nats"),
    "after right": lambda book: set_to(state_of(book, "1")["questions"][0], "because", "So not."),
    "a reply": lambda book: set_to(state_of(book, "1")["questions"][0]["wrong"][0], "message", "These are bits."),
    "a step": lambda book: set_to(state_of(book, "2"), "step", 0.2),
    "a claim's cell": lambda book: set_to(book["cells"][1]["metadata"], "tags", ["asserts", "claim-A07"]),
    "a tag of code": lambda book: set_to(book["cells"][1]["metadata"], "tags", ["asserts", "remove-output"]),
    "a tag of prose": lambda book: set_to(book["cells"][0]["metadata"], "tags", ["remove-cell"]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(edit):
    book = copy.deepcopy(SMALL)
    EDITS[edit](book)
    assert notebook(json.dumps(book)) != notebook(json.dumps(SMALL))


def test_what_changed_is_shown_old_beside_new_and_beside_the_cell():
    book = copy.deepcopy(SMALL)
    EDITS["a word"](book)
    (told,) = changes(json.dumps(SMALL), json.dumps(book), is_notebook=True)
    assert "- Divide by log 2." in told and "+ Multiply by log 2." in told and "five bits" not in told
    assert "[after: b]" in told and "5.0" in told
    assert changes("One.\n\nTwo. Three.", "One.\n\nTwo. Four.", is_notebook=False) == ["- Three.\n+ Four."]


def test_a_changed_line_of_code_is_shown_with_its_cell():
    book = copy.deepcopy(SMALL)
    EDITS["a bound"](book)
    (told,) = changes(json.dumps(SMALL), json.dumps(book), is_notebook=True)
    assert "- assert np.allclose(x, 5, atol=0.0, rtol=1e-15)" in told
    assert "+ assert np.allclose(x, 5, atol=0.0, rtol=1)" in told
    assert "[of: b]" in told and "That is all" not in told


def test_numbers_are_pinned_to_six_digits():
    assert rounded({"a": [1.23456789, 2]}) == {"a": [1.23457, 2]}


@pytest.fixture
def small_book(tmp_path, monkeypatch):
    """A repository of one page, which a commit has pinned and a later one has changed without its pin."""
    page = tmp_path / "book/a.md"
    for name, value in {"ROOT": tmp_path, "PINS": tmp_path / "tests/book/pins", "PAGES": [page]}.items():
        monkeypatch.setattr(pins, name, value)
    monkeypatch.setattr(pins, "NOTEBOOKS", [])
    monkeypatch.setattr(pins, "OTHERS", {})
    monkeypatch.setattr("sys.argv", ["pins"])
    page.parent.mkdir()
    pins.PINS.mkdir(parents=True)

    def commit():
        own = {"user.name": "a", "user.email": "a@example.org", "commit.gpgsign": "false", "core.hooksPath": os.devnull}
        settings = [part for name, value in own.items() for part in ("-c", f"{name}={value}")]
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message=a"]):
            subprocess.run(["git", *settings, *command], cwd=tmp_path, check=True)

    page.write_text("One. Two.")
    assert pins.main() == 0
    commit()
    page.write_text("One. Three.")
    commit()
    return page


def test_a_page_is_compared_with_what_was_pinned_not_with_what_was_committed(small_book, capsys):
    assert pins.as_pinned("a") == "One. Two."
    capsys.readouterr()
    assert pins.main() == 0
    assert "- Two.\n+ Three." in capsys.readouterr().out
    assert json.loads((pins.PINS / "a.json").read_text("utf-8")) == pins.stated()["a"]


def test_a_word_that_names_no_pin_is_an_error(small_book, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pins", "b"])
    with pytest.raises(SystemExit, match="no page or chapter"):
        pins.main()
