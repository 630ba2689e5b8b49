"""Web fonts cut down to the characters that the built pages use."""

import html
import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

FAMILY_NAME_RECORDS = (1, 4, 6, 16)


def cut_font(source: Path, characters: Iterable[int], target: Path, name: str | None = None) -> int:
    """Write `source` to `target` with the given characters alone, and return the size of the result in bytes.

    The source is always the whole font as it was installed: a font that was cut before lacks what is new.
    A font whose licence reserves its name gets another `name` when it is changed.
    """
    options = subset.Options(flavor="woff2", hinting=False, layout_features=["kern"])
    font = subset.load_font(str(source), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=characters)
    cutter.subset(font)
    for record in font["name"].names if name else ():
        if record.nameID in FAMILY_NAME_RECORDS:
            record.string = name
    target.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(target), options)
    return target.stat().st_size


def pages(outdir: Path) -> Iterable[str]:
    """The HTML of every built page: of those that this build wrote, and of those that it had no need to write."""
    return (page.read_text(encoding="utf-8") for page in sorted(outdir.rglob("*.html")))


def text_of(page: str) -> str:
    """The text of a page, with its tags taken out and its entities resolved."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))
