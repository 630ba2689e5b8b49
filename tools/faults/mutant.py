"""What a planted fault is, and how a notebook's JSON is changed by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Change = Callable[[bytes], bytes]


class Mutant(NamedTuple):
    """A fault: in the file at `path`, `old` (which stands there once) becomes `new`; `tests` must go red."""

    name: str
    path: str
    old: str | Change
    new: str
    tests: str
    also: tuple[tuple[str, str, str], ...] = ()  # path, old and new of a second place: the same fault on both sides
    refresh: str = ""  # the numbers of the chapters that are made anew with the fault in them, as "06 13"

    def places(self) -> list[tuple[str, str | Change, str]]:
        """Each file with what becomes what in it."""
        return [(self.path, self.old, self.new), *self.also]

    def apply(self, data: bytes, old: str | Change, new: str) -> bytes:
        """The faulty file."""
        data = data.replace(b"\r\n", b"\n") if b"\0" not in data else data  # a checkout with other line ends
        if callable(old):
            return old(data)
        if data.count(old.encode()) != 1:
            raise LookupError(f"{self.name}: a file holds {data.count(old.encode())} times, not once: {old}")
        return data.replace(old.encode(), new.encode())


def notebook(change: Callable[[dict[str, Any]], None]) -> Change:
    """A change of a notebook's JSON."""

    def apply(data: bytes) -> bytes:
        content = json.loads(data)
        change(content)
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()

    return apply


def cell_with(content: dict[str, Any], text: str) -> dict[str, Any]:
    """The first code cell whose source holds `text`."""
    return next(c for c in content["cells"] if c["cell_type"] == "code" and text in "".join(c["source"]))


def exchanged(one: str, other: str) -> Change:
    """Two cells, given by words that stand in each alone, in each other's place."""

    def change(content: dict[str, Any]) -> None:
        cells = content["cells"]
        i, j = (next(n for n, c in enumerate(cells) if text in "".join(c["source"])) for text in (one, other))
        cells[i], cells[j] = cells[j], cells[i]

    return notebook(change)


def without_kind(name: str) -> Change:
    """A checker's file less one kind of case, given by its name."""

    def apply(data: bytes) -> bytes:
        text = data.decode().replace("\r\n", "\n")
        end = text.index(f'"{name}"')
        start = text.rindex("        Kind(", 0, end)
        stop = min(at for at in (text.find("\n        ),\n", end), text.find("]),\n", end)) if at > 0)
        return (text[:start] + text[text.index(",\n", stop) + 2 :]).encode()

    return apply
