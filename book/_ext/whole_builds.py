"""An incremental build that ends as a full one would.

Sphinx reads and writes only the pages that changed. Three things would then be stale or forgotten:

* the contents in the sidebar of every other page, when a title changed or a chapter came;
* pages written by an older version of the extensions or templates of this book;
* the warnings of a page that failed and was not touched since: a second build would pass.
"""

import hashlib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

BOOK = Path(__file__).parent.parent


def digest_of_the_machinery() -> str:
    """One number for all files that decide how a page is made."""
    folders = ("_ext", "_static", "_templates")
    files = [file for folder in folders for file in (BOOK / folder).rglob("*") if file.is_file()]
    sources = sorted(file for file in files if "__pycache__" not in file.parts)
    return hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()


def forget_after_warnings(app: Sphinx, exception: Exception | None) -> None:
    """Let the build after one with warnings begin anew, so that it warns again."""
    if app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """If one page was read anew, write them all; if the machinery changed too, as after a change in `_config.yml`."""
    read_anew: set[str] = set()
    app.connect("env-before-read-docs", lambda app, env, pages: read_anew.update(pages))
    app.connect("env-updated", lambda app, env: env.found_docs if read_anew else [])
    app.add_config_value("whole_builds_digest", digest_of_the_machinery(), "html")
    app.connect("build-finished", forget_after_warnings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
