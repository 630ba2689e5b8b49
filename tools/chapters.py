"""The book's chapters as tests and tools read them: cells, prose, the numbers they print, the figures they draw."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("[0-9][0-9]_*.ipynb"))

NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w,]*\w)", re.ASCII)


@functools.cache
def needs_model(notebook: Path) -> bool:
    """Whether its cells load the real model, as the fixture in the package does not do."""
    return "load_model(" in notebook.read_text("utf-8")


@functools.cache
def cells(chapter: str) -> list[Any]:
    """All cells of a chapter."""
    return nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells


def code_cells(chapter: str) -> list[Any]:
    """Its code cells."""
    return [cell for cell in cells(chapter) if cell.cell_type == "code"]


def prose_cells(chapter: str) -> list[Any]:
    """Its Markdown cells."""
    return [cell for cell in cells(chapter) if cell.cell_type == "markdown"]


def tags(cell: Any) -> list[str]:
    """A cell's tags."""
    return cell.metadata.get("tags", [])


def proof(chapter: str, shown: Any) -> str:
    """The source that asserts a claim: of the cell that shows it, and of the folded one after it.

    Between the two there may be other claims' cells, which the same folded cell proves.
    """
    code = code_cells(chapter)
    at = next(i for i, cell in enumerate(code) if cell is shown)
    after = (cell for cell in code[at + 1 :] if not any(tag.startswith("claim-") for tag in tags(cell)))
    folded = next(after, None)
    return "\n".join(cell.source for cell in (shown, folded) if cell is shown or (cell and "asserts" in tags(cell)))


def output_texts(cell: Any) -> Iterator[str]:
    """Everything that a cell's outputs say in words: what it prints, its value, its error, a widget's table."""
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            yield output.text
        elif output.output_type == "error":
            yield output.evalue
        else:
            for kind in ("text/plain", "text/html"):
                if kind in output.data and "image/svg+xml" not in output.data:
                    yield re.sub(r"<[^>]*>", " ", output.data[kind])


def numbers_in(text: str) -> list[str]:
    """The numbers of a text as they are written, less a plus sign and the commas between thousands."""
    text = re.sub(r"\bminus (?=\d)", "-", text)
    return [match.replace("−", "-").lstrip("+").replace(",", "") for match in NUMBER.findall(text)]


def said_beside(figure: Any) -> list[str]:
    """The alt text and the caption of a cell that draws."""
    settings = figure.metadata.get("mystnb", {})
    return [settings.get("image", {}).get("alt", ""), settings.get("figure", {}).get("caption", "")]


FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell", "exercise", "solution", "quiz"}
NOT_WORDS = r"^\(.*\)=$|^:{3,}.*$|^:\w[\w-]*:.*$|\]\([^)]*\)|\{\w+(?::\w+)?\}|<[^>]*>|[#*`|]|^-+$"


def minutes(chapter: str) -> float:
    """How long a chapter takes to read and run: 180 words a minute, 5 seconds for each line of code that is shown.

    What is folded counts none, and so do tabs: they are for those who use one of the frameworks, and no sentence of the
    course rests on them.
    """
    words = sum(len(words_of(cell.source)) for cell in prose_cells(chapter))
    shown = [cell for cell in code_cells(chapter) if not FOLDED & set(tags(cell))]
    lines = sum(bool(line.strip()) for cell in shown for line in cell.source.splitlines())
    return words / 180 + lines * 5 / 60


def words_of(markdown: str) -> list[str]:
    """The words that a page shows; a formula is one, and what is folded or stands in tabs counts none."""
    text = re.sub(r"(:{3,})\{(?:dropdown|tab-set)\}.*?\n\1\s*?$", " ", markdown, flags=re.S | re.M)
    text = re.sub(r"\$\$.+?\$\$|\$[^$]+\$", " formula ", text, flags=re.S)
    return [w for w in re.sub(NOT_WORDS, " ", text, flags=re.M).split() if re.search(r"\w", w)]


@functools.cache
def printed_numbers(chapter: str) -> frozenset[str]:
    """Every number that a cell of the chapter prints."""
    return frozenset(n for cell in code_cells(chapter) for text in output_texts(cell) for n in numbers_in(text))


def figures(chapter: str) -> list[Any]:
    """The cells that draw."""
    return [
        cell
        for cell in code_cells(chapter)
        if any("image/svg+xml" in o.get("data", {}) or "image/png" in o.get("data", {}) for o in cell.outputs)
    ]


def figure_name(cell: Any) -> str:
    """The name by which pages link to a figure."""
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")


def alt_text(chapter: str, name: str) -> str:
    """What a screen reader says of the figure."""
    (cell,) = [cell for cell in figures(chapter) if figure_name(cell) == name]
    return cell.metadata["mystnb"]["image"]["alt"]


def widget_state(chapter: str) -> dict[str, Any]:
    """The widget models that a chapter stores."""
    metadata = json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["metadata"]
    return metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
