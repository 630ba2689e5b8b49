"""What the book states and no computation can check is stated twice: see tools/pins.py."""

import ast
import copy
import json
import subprocess

import pytest

from tools import pins
from tools.chapters import ROOT
from tools.pins import NOTEBOOKS, OTHERS, PAGES, PINS, changes, notebook, released, rounded, sentences_in, stated

NOW = stated()


@pytest.mark.parametrize("name", sorted(NOW))
def test_stated_as_pinned(name):
    pin = PINS / f"{name}.json"
    kept = json.loads(pin.read_text("utf-8")) if pin.exists() else None
    assert NOW[name] == kept, f"{name}: if the change is meant, make pins, and read what it shows"


def test_no_pin_has_outlived_its_page():
    assert {pin.name.removesuffix(".json") for pin in PINS.glob("*.json")} == set(NOW)
    assert len(NOW) == len(NOTEBOOKS) + len(PAGES) + len(OTHERS), "two pages have one pin file"


def test_whatever_people_read_is_pinned():
    patterns = ["*.md", "*.ipynb", "*.bib", "*LICENSE*", ".github/ISSUE_TEMPLATE/*", ":!tests"]
    run = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    listed = {ROOT / name for name in run.stdout.splitlines()} or pytest.skip("not a git checkout")
    assert listed <= {*NOTEBOOKS, *PAGES}


def test_each_module_of_the_package_and_of_the_pages_is_pinned():
    modules = {path for folder in ("lmhead", "book/_ext") for path in (ROOT / folder).rglob("*.py")}
    assert {ROOT / name for name in NOW["lmhead"]} == modules


def test_no_text_of_several_words_is_left_out():
    said = sentences_in(ast.parse('"""What it does."""\nNAME, SAID = "one", "two words"\nprint(f"{SAID} and more")'))
    assert said == ["two words", " and more"]
    for name, lines in NOW["lmhead"].items():
        said = sentences_in(ast.parse((ROOT / name).read_text("utf-8")))
        labels = [f"messages and labels {pins.digest(repr(said))}"] if said else []
        assert [line for line in lines if line.startswith("messages and labels ")] == labels, name


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
    page.parent.mkdir()
    for name, value in {"ROOT": tmp_path, "PINS": tmp_path / "tests/book/pins", "PAGES": [page]}.items():
        monkeypatch.setattr(pins, name, value)
    monkeypatch.setattr(pins, "NOTEBOOKS", [])
    monkeypatch.setattr(pins, "OTHERS", {})
    pins.PINS.mkdir(parents=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    pins.git("init", "--quiet")
    for text in ("One. Two.", "One. Three."):
        page.write_text(text)
        if text == "One. Two.":
            monkeypatch.setattr("sys.argv", ["pins"])
            assert pins.main() == 0
        pins.git("add", "--all")
        pins.git(*author, "commit", "--quiet", "--no-verify", "--message=a")
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
