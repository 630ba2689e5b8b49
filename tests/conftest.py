"""What every test may rely on: its marks, its folder, which worker runs it; and what is made once for all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lmhead.smollm import SmolLM
from tests.support import session
from tests.support.building import build_book, make_small_book, published_site
from tests.support.real_model import load
from tools import twins
from tools.chapters import BOOK, CHAPTERS, ROOT, needs_model

# ---- what a test needs: `make quick` leaves these out. `session.need` holds that a test says so.

KINDS = {  # mark -> what such tests do, and the fixtures or marks that bring it along
    "browser": ("drive a browser", {"browser", "gallery", "lab", "tab"}),
    "site": ("build pages", {"site", "small_book", "published", "gallery_html", "widgets_page"}),
    "model": ("load the real model", {"real_model"}),
    "kernel": ("execute notebooks", {"figure"}),
    "environment": ("make an environment", set()),
    "download": ("download with pip", {"index"}),
    "long": ("take long", set()),
    "mutation": ("run other tests on planted faults", set()),
}
LONGEST_FIRST = ({"mutation", "environment", "alone"}, {"browser", "model"}, set(KINDS))
OTHER_MARKS = (
    "figure(name): asserts what the book's figure of that name draws",
    "alone: long, any worker takes it",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-chapter", action="store_true", help="run the cells of every chapter on its page")
    parser.addoption("--quick", action="store_true", help="only what needs none of: " + ", ".join(KINDS))
    parser.addoption("--site", type=Path, help="a built site to look at, in place of one that is built for the tests")
    parser.addoption("--every-page", action="store_true", help="sweeps that look at a few pages look at all of them")


def pytest_configure(config: pytest.Config) -> None:
    for mark, (does, _) in KINDS.items():
        config.addinivalue_line("markers", f"{mark}: {does}")
    for line in OTHER_MARKS:
        config.addinivalue_line("markers", line)
    session.begin(getattr(config, "workerinput", {}).get("folder"))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker the folder that all share."""
    node.workerinput["folder"] = str(session.folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        session.end()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for kind in kinds_of(item):
            item.add_marker(kind)
    if config.getoption("quick"):
        left_out = [item for item in items if marks_of(item) & set(KINDS)]
        items[:] = [item for item in items if not marks_of(item) & set(KINDS)]
        config.hook.pytest_deselected(items=left_out)
        config.stash[LEFT_OUT] = Counter(next(k for k in KINDS if k in marks_of(item)) for item in left_out)
    if hasattr(config, "workerinput"):
        # What one worker does for minutes begins first: else the others wait for it in the end. (The sort is stable.)
        items.sort(key=lambda item: [bool(marks_of(item) & some) for some in LONGEST_FIRST], reverse=True)
    # In its group nbval's cells come first, since the other tests of a chapter read what they did.
    begins: dict[str, int] = {}
    for item in items:
        begins.setdefault(group_of(item), len(begins))
    items.sort(key=lambda item: (begins[group_of(item)], item.path.suffix != ".ipynb"))
    if hasattr(config, "workerinput"):
        mine = session.folder / f"groups.{config.workerinput['workerid']}"
        mine.write_text(json.dumps({item.nodeid: group_of(item) for item in items}), encoding="utf-8")
        mine.replace(session.folder / "groups.json")  # all workers write the same


def pytest_collection_finish(session: pytest.Session) -> None:
    if notebooks := {item.parent for item in session.items if item.path.suffix == ".ipynb"}:
        from tests.support.ran import hear  # slow to import

        for notebook in notebooks:
            hear(notebook)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a group on one worker. xdist's own groups ride on a name that pytest 9.2 no longer reads."""
    from xdist.scheduler import LoadScopeScheduling

    @cache
    def groups() -> dict[str, str]:
        return json.loads((session.folder / "groups.json").read_text("utf-8"))

    class Groups(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return groups()[nodeid]

    return Groups(config, log)


LEFT_OUT = pytest.StashKey[Counter[str]]()


def marks_of(item: pytest.Item) -> set[str]:
    return {mark.name for mark in item.iter_markers()}


def kinds_of(item: pytest.Item) -> list[str]:
    """The marks that its fixtures and other marks bring along."""
    has = marks_of(item) | set(getattr(item, "fixturenames", ()))
    kinds = [kind for kind, (_, brought_by) in KINDS.items() if {kind, *brought_by} & has]
    notebook = BOOK / f"{chapter_of(item)}.ipynb"
    if item.path.suffix == ".ipynb":  # a cell that nbval runs
        notebook, kinds = item.path, ["kernel"]
    return [*kinds, "model"] if "kernel" in kinds and notebook.exists() and needs_model(notebook) else kinds


def chapter_of(item: pytest.Item) -> str | None:
    """The chapter that it is about: its notebook, its parameter, or that of its `test_figures_NN.py`."""
    if item.path.suffix == ".ipynb":
        return item.path.stem
    of_file = next((name for name in CHAPTERS if item.path.name == f"test_figures_{name[:2]}.py"), None)
    return item.callspec.params.get("chapter", of_file) if hasattr(item, "callspec") else of_file


def group_of(item: pytest.Item) -> str:
    """What one worker runs in one go: a file; a chapter's one run and all that is read from it; the real model."""
    marks = marks_of(item)
    if "alone" in marks:
        return item.nodeid
    if "model" in marks:
        return "the real model"
    return f"chapter {chapter_of(item)}" if "kernel" in marks else item.nodeid.partition("::")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with session.guarded(marks_of(item)):
        return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, None):
        each = ", ".join(f"{left_out[kind]} {KINDS[kind][0]}" for kind in KINDS if left_out[kind])
        terminalreporter.write_line(
            f"Left out of quick: {sum(left_out.values())} tests ({each}); `make test` runs all."
        )
    for (
        line
    ) in twins.stale():  # to run them takes three frameworks: `make twins`, which is red over it, as it is weekly
        terminalreporter.write_line(f"Twin {line}")


# ---- what is made once


@pytest.fixture(scope="session")
def real_model() -> SmolLM:
    """The real model; where it cannot be had, a skip, or under CI a failure."""
    return load()


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest) -> Path:
    """The folder of the built site, from which `book/index.html` opens."""
    if given := request.config.getoption("site"):
        return given.resolve()

    def build(folder: Path) -> Path:
        built = build_book(ROOT, folder)
        if built.returncode:
            pytest.fail("The book does not build:\n" + built.stdout[-3000:] + built.stderr[-3000:])
        return folder / "_build" / "html"

    return session.made_once("site", build)


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A book with the real settings, extensions and templates, and with a `page` that a test may write as it likes."""
    return make_small_book(tmp_path / "small")


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of a small site that has an address and a repository, a chapter, and numbered equations."""
    return session.made_once("published", published_site)


# For the tests in a browser; what they import is slow, and other tests need none of it.


@pytest.fixture(scope="session")  # one event loop for all: V8, once it has met one, asks for it again
def browser() -> Iterator[Any]:
    from tests.support.live import chromium

    with chromium() as launched:
        yield launched


@pytest.fixture(scope="session")
def gallery_html() -> Path:
    """The folder of a built book, whose one page shows every view."""
    from tests.support.gallery import gallery_site

    return session.made_once("gallery", gallery_site)


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
        whole = [page for page in every if 'http-equiv="refresh"' not in page.read_text("utf-8")[:400].lower()]
        pages = [page.relative_to(site).as_posix() for page in whole]
        yield [*(f"{address}/{page}" for page in pages), gallery]
