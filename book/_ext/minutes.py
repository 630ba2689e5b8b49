"""How long chapters take, added up from what each says at its top: {minutes}`3`, {minutes}`1-7 10`.

So a sentence that makes a chapter longer changes that chapter's file alone.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole


def said_by(notebook: Path) -> int:
    """The minutes that a chapter's first cell names."""
    first = "".join(json.loads(notebook.read_text("utf-8"))["cells"][0]["source"])
    return int(re.findall(r"about\s+(\d+)\s+minutes", first)[0])


class Minutes(SphinxRole):
    """The sum over the chapters whose numbers stand in the role."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Add up, and have the page read anew when one of the chapters changes."""
        total = 0
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", self.text):
            for number in range(int(first), int(last or first) + 1):
                (chapter,) = [name for name in self.env.found_docs if name.startswith(f"book/{number:02d}_")]
                notebook = self.env.doc2path(chapter)
                self.env.note_dependency(str(notebook))
                total += said_by(Path(notebook))
        return [nodes.Text(f"{total} minutes")], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Give pages the role."""
    app.add_role("minutes", Minutes())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
