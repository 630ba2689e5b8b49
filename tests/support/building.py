"""How the tests build the book, and small ones."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support import session
from tools.chapters import BOOK, ROOT


def build_book(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make book` does: with warnings as errors, all of them shown."""
    session.need("site")
    program = shutil.which("jupyter-book", path=Path(sys.executable).parent)
    command = [str(program), "build", str(source), "--path-output", str(out), "-W", "-n", "--keep-going"]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")


def make_small_book(source: Path) -> Path:
    """A book of three pages, with the real settings, extensions and templates, in a folder that holds nothing else.

    (Not in the one in which the site is built: Sphinx takes all that lies there for pages.)
    """
    for name in ("_ext", "_static", "_templates"):
        shutil.copytree(BOOK / name, source / "book" / name)
    for name in ("_config.yml", "book/references.bib", "beyond/twins/requirements.txt"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    (source / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n- file: book/page\n- file: book/other\n"
    )
    (source / "book/index.md").write_text("# A small book\n")
    (source / "book/other.md").write_text("# Another page\n\nSee {doc}`page`.\n")
    (source / "book/page.md").write_text("# The page\n\nThe loss is $-\\log p_y$.\n")
    return source


# ---- a small book with all that the real one gets when it is published

ADDRESS, REPOSITORY = "https://someone.example/course/", "https://github.com/someone/course"
EQUATIONS = r"""# The page

$$z = h W_U$$ (eq-one)

$$
\begin{align*}
a &= b \\
c &= d
\end{align*}
$$ (eq-two)

By {eq}`eq-one` and {eq}`eq-two`.
"""


def published_site(folder: Path) -> Path:
    """The HTML of a small book with an address and a repository; its `other` page is a chapter."""
    book = make_small_book(folder / "small")
    settings = (book / "_config.yml").read_text("utf-8")
    for empty, value in ((' baseurl: ""', ADDRESS), (' url: ""', REPOSITORY)):
        assert settings.count(empty) == 1
        settings = settings.replace(empty, empty.replace('""', value))
    (book / "_config.yml").write_text(settings, encoding="utf-8")
    (book / "book/page.md").write_text(EQUATIONS, encoding="utf-8")
    (book / "book/other.md").unlink()
    shutil.copy(BOOK / "04_weight_tying.ipynb", book / "book/other.ipynb")
    said, html = build_book(book, folder / "out").stderr, folder / "out/_build/html"
    wrong = [
        line for line in said.splitlines() if re.search("WARNING|ERROR|CRITICAL|SEVERE|Traceback|[Ee]xception", line)
    ]
    assert [line for line in wrong if "other.ipynb" not in line] == []  # its links to other chapters lead nowhere
    assert (html / "sitemap.xml").exists(), said[-2000:]  # written at the end
    return html
