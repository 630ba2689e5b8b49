"""What is made once for all tests: the built site, a page of every view, a browser. And which worker runs what."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.support.building import ROOT, build_book

# A file's tests stay together, so that what they share is made once. But the cells of a chapter are run by three files,
# for its figures, for the shapes of its heads and for the names of its variables: those stay together by chapter. And
# the real model takes long to load: one worker has it.
BY_CHAPTER = re.compile(r"(?:test_figures_|test_no_matrix_is_square.*\[|test_a_variable_is_what_its_name_says\[)(\d\d)")
REAL_MODEL = re.compile(r"test_(?:cli|fixture|smollm|figures_09)\.py|\[09_")
ALONE = ("test_every_page.py", "test_every_control_", "test_every_quick_check_")  # long: not one after the other


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """As `--dist loadfile`, but for the above."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if REAL_MODEL.search(nodeid) and "test_notebooks" not in nodeid:
                return "the real model"
            if chapter := BY_CHAPTER.search(nodeid):
                return f"chapter {chapter[1]}"
            return nodeid if any(name in nodeid for name in ALONE) else nodeid.partition("::")[0]

    return Together(config, log)


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """What `make(folder)` returns, called by the first worker that asks."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has a folder of its own, side by side
        shared = shared.parent
    note = shared / f"{name}.path"
    with FileLock(shared / f"{name}.lock"):
        if not note.exists():
            folder = shared / name
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            note.write_text(str(make(folder)), encoding="utf-8")
    return Path(note.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site, from which `book/index.html` opens."""

    def build(folder: Path) -> Path:
        built = build_book(ROOT, folder)
        if built.returncode:
            pytest.fail("The book does not build:\n" + built.stdout[-3000:] + built.stderr[-3000:])
        return folder / "_build" / "html"

    return made_once(tmp_path_factory, "site", build)


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
    from tests.support.live import chromium

    with chromium() as launched:
        yield launched


@pytest.fixture(scope="session")
def gallery_html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a built book, whose one page shows every view."""
    from tests.support.gallery import gallery_site

    return made_once(tmp_path_factory, "gallery", gallery_site)


@pytest.fixture(scope="module")
def gallery(gallery_html: Path) -> Iterator[str]:
    """The address of that page."""
    from tests.support.live import served

    with served(gallery_html) as address:
        yield f"{address}/book/page.html"


@pytest.fixture(scope="module")
def addresses(site: Path, gallery: str) -> Iterator[list[str]]:
    """The address of every page of the book, and of the gallery."""
    from tests.support.live import served

    with served(site) as address:
        every = [page for page in sorted(site.rglob("*.html")) if "_static" not in str(page)]
        pages = [page.relative_to(site).as_posix() for page in every if "Refresh" not in page.read_text("utf-8")[:200]]
        yield [*(f"{address}/{page}" for page in pages), gallery]
