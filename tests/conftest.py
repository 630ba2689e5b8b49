"""The built site, made once for all tests that look at it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


def build_book(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make book` does: with warnings as errors, all of them shown."""
    program = shutil.which("jupyter-book", path=Path(sys.executable).parent)
    command = [str(program), "build", str(source), "--path-output", str(out), "-W", "-n", "--keep-going"]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site, from which `book/index.html` opens; built once, whatever number of workers run."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has a folder of its own, side by side
        shared = shared.parent
    html = shared / "site" / "_build" / "html"
    with FileLock(shared / "site.lock"):
        if not html.exists():
            built = build_book(ROOT, shared / "site")
            if built.returncode:
                shutil.rmtree(html, ignore_errors=True)
                pytest.fail("The book does not build:\n" + built.stdout[-3000:] + built.stderr[-3000:])
    return html


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A book with the real settings, extensions and templates, and with a `page` that a test may write as it likes."""
    source = tmp_path / "small"  # not the folder that holds the site: Sphinx would look for pages in it
    for name in ("_ext", "_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, source / "book" / name)
    for name in ("_config.yml", "book/references.bib"):
        shutil.copy(ROOT / name, source / name)
    (source / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters:\n- file: book/page\n- file: book/other\n"
    )
    (source / "book/index.md").write_text("# A small book\n")
    (source / "book/other.md").write_text("# Another page\n\nSee {doc}`page`.\n")
    (source / "book/page.md").write_text("# The page\n\nThe loss is $-\\log p_y$.\n")
    return source


# For the tests in a browser; what they import is slow, and other tests need none of it.


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from live import chromium

    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page that shows every view."""
    from gallery import gallery_site
    from live import served

    with served(gallery_site(tmp_path_factory.mktemp("gallery"))) as address:
        yield f"{address}/book/page.html"


@pytest.fixture(scope="module")
def addresses(site: Path, gallery: str) -> Iterator[list[str]]:
    """The address of every page of the book, and of the gallery."""
    from live import served

    with served(site) as address:
        every = [page for page in sorted(site.rglob("*.html")) if "_static" not in str(page)]
        pages = [page.relative_to(site).as_posix() for page in every if "Refresh" not in page.read_text("utf-8")[:200]]
        yield [*(f"{address}/{page}" for page in pages), gallery]
