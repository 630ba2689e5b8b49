"""The book's own rules. Each message says what an author is to do."""

from __future__ import annotations

import re

import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from tests.support.ran import ran
from tools.chapters import BOOK, CHAPTERS, cells, code_cells, figure_name, figures, prose_cells, tags

every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


def prose(chapter):
    return "\n\n".join(cell.source for cell in prose_cells(chapter))


@every_chapter
def test_every_code_cell_is_stored_run_in_order(chapter):
    counts = [cell.execution_count for cell in code_cells(chapter)]
    assert counts == list(range(len(counts))), "a cell is stored unrun or out of order: make refresh"


@every_chapter
def test_no_cell_is_skipped_and_what_is_ignored_says_why(chapter):
    listed = (BOOK / "checks.md").read_text("utf-8")
    for cell in code_cells(chapter):
        assert "nbval-skip" not in tags(cell), f"no cell is skipped; this one is:\n{cell.source}"
        if any(tag.startswith(("nbval-ignore", "nbval-check")) for tag in tags(cell)):
            reason = cell.metadata.get("ignored_because", "")
            assert reason, f'say why in the cell\'s metadata, {{"ignored_because": "..."}}:\n{cell.source}'
            assert reason in listed, f"list in book/checks.md what is not compared, and why: {reason}"


@every_chapter
def test_nothing_is_printed_to_stderr(chapter):
    for cell in code_cells(chapter):
        loud = [o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr"]
        assert not loud, f"a warning or a log line is part of the chapter: {loud}\n{cell.source}"


@every_chapter
def test_errors_are_meant_and_short(chapter):
    for cell in code_cells(chapter):
        errors = [o for o in cell.outputs if o.output_type == "error"]
        assert bool(errors) == ("raises-exception" in tags(cell)), (
            f"tag raises-exception and raising differ:\n{cell.source}"
        )
        for error in errors:
            assert error.traceback == [f"{error.ename}: {error.evalue}"], "a long traceback: make refresh"
            assert "broadcast" not in error.evalue, f"NumPy stops it before the mistake on show:\n{cell.source}"


@pytest.mark.parametrize("chapter", [*CHAPTERS, "conclusions"])
def test_cells_are_short(chapter):
    for cell in code_cells(chapter):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert len(lines) <= 12, (
            f"{len(lines)} lines, 12 at most: move a helper to lmhead, or split the idea:\n{cell.source}"
        )
        most = 120 if "remove-input" in tags(cell) else 88  # what a page shows without scrolling
        longest = max(map(len, lines))
        assert longest <= most, f"a line of {longest} characters, {most} at most:\n{cell.source}"


@every_chapter
def test_no_path_of_a_machine(chapter):
    text = (BOOK / f"{chapter}.ipynb").read_text("utf-8")
    own = re.escape(str(BOOK.parent))
    found = re.findall(rf"(?:{own}|/(?:home|tmp|Users)/|site-packages|[A-Z]:\\\\)[^\s\"]*", text)
    assert not found, f"a path of somebody's machine is stored: {found[:3]}"


@every_chapter
def test_figures_have_a_name_a_caption_an_alt_text_and_a_test(chapter):
    asserted = "".join(path.read_text("utf-8") for path in (BOOK.parent / "tests").glob("book/test_figures_*.py"))
    for cell in figures(chapter):
        settings = cell.metadata.get("mystnb", {})
        alt, caption = settings.get("image", {}).get("alt", ""), settings.get("figure", {}).get("caption", "")
        assert len(alt) > 30 and not re.search(r"\.(png|svg)$", alt), f"say in alt what is to be seen:\n{cell.source}"
        assert len(caption) > 30, f"give the figure a caption that says what to see:\n{cell.source}"
        name = figure_name(cell)
        assert name.startswith("fig-"), f"name the figure fig-...:\n{cell.source}"
        assert f'figure("{name}")' in asserted, (
            f"assert what {name} draws: @pytest.mark.figure({name!r}) in tests/book/test_figures_{chapter[:2]}.py"
        )


@every_chapter
@pytest.mark.kernel
def test_each_curve_of_a_figure_has_its_own_colour_dash_or_marker(chapter):
    for name, ax in ran(chapter).axes.items():
        assert alike(ax.get_lines()) == set(), f"{name}: two curves look alike"


def alike(lines):
    """The looks that two curves have."""
    looks = [(to_hex(line.get_color()), line.get_linestyle(), line.get_marker()) for line in lines if is_a_curve(line)]
    return {look for look in looks if looks.count(look) > 1}


def is_a_curve(line):
    """Named by a legend, or whole and of more than two points: dashed ones without a name are levels of one kind."""
    named = line.get_label()[:1] not in ("", "_")
    return named or (line.get_linestyle() == "-" and len(line.get_xdata()) > 2)


@pytest.mark.parametrize("label", ["a name", "_hidden", ""])
@pytest.mark.parametrize("dash", ["-", "--"])
@pytest.mark.parametrize("points", [2, 3])
def test_two_curves_that_look_alike_are_found(label, dash, points):
    one, other, again = (
        Line2D(*[range(points)] * 2, linestyle=dash, color=colour, label=label) for colour in ("red", "green", "red")
    )
    assert alike([one, other]) == set()
    assert bool(alike([one, other, again])) == (label == "a name" or (dash == "-" and points == 3))


@every_chapter
@pytest.mark.kernel
def test_no_matrix_is_square_and_no_two_sizes_agree(chapter):
    for h_shape, head_shape in ran(chapter).heads:
        d_model, vocab = head_shape
        assert d_model != vocab, f"W_U {head_shape} is square: a wrong transpose would pass"
        positions = h_shape[-2] if len(h_shape) > 1 else None
        assert positions not in (d_model, vocab), f"h {h_shape} and W_U {head_shape}: sizes must differ"


@every_chapter
def test_a_chapter_has_all_its_parts(chapter):
    text = prose(chapter)
    first = cells(chapter)[0].source
    number = int(chapter[:2])
    assert re.match(rf"# {number} · .+\n\n\*\*[^*]+\?\*\*\n", first), (
        "begin with '# N · Title' and the question in bold"
    )
    for part in ("Before you start", "**You need**", "**Time**", "**Afterwards you can**"):
        assert part in first, f"the first cell tells: {part}"
    for part in ("**Predict.**", "## Check yourself", "## Write it yourself", "## What to remember"):
        assert part in text, f"the chapter lacks: {part}"
    count = {kind: sum(kind in tags(cell) for cell in code_cells(chapter)) for kind in ("quiz", "exercise", "solution")}
    assert count["quiz"] >= 5, "at least five quick checks"
    assert count["exercise"] == count["solution"] == 2, "two exercises, each with a solution"
    mistakes = sum("raises-exception" in tags(cell) for cell in code_cells(chapter))
    assert mistakes >= 2, "show at least two mistakes that raise (tag raises-exception)"
    assert any("widgets." in cell.source for cell in code_cells(chapter)), "a slider"


@every_chapter
def test_quick_checks_hide_their_answers_and_exercises_give_a_hint(chapter):
    for before, cell in zip(cells(chapter), cells(chapter)[1:], strict=False):
        if "quiz" in tags(cell):
            hidden = "remove-input" in tags(cell) and cell.metadata.get("jupyter", {}).get("source_hidden")
            assert hidden, f"tag remove-input, and metadata jupyter.source_hidden:\n{cell.source}"
        if "exercise" in tags(cell):
            assert ":::{dropdown}" in before.source and "hint" in before.source.lower(), "give a folded hint"


@every_chapter
def test_exercises_are_untouched_and_solved(chapter):
    for cell in code_cells(chapter):
        printed = "".join(o.get("text", "") for o in cell.outputs)
        if "exercise" in tags(cell):
            assert printed.startswith(("Not written yet", "Not yet")), f"the stub must not pass:\n{cell.source}"
        if "solution" in tags(cell):
            assert printed.startswith("Right: all "), f"the solution must pass:\n{cell.source}"
            assert "hide-cell" in tags(cell), f"fold the solution: tag hide-cell:\n{cell.source}"


def test_every_source_that_is_listed_is_cited():
    listed = set(re.findall(r"^@\w+\{(\w+),", (BOOK / "references.bib").read_text("utf-8"), re.M))
    pages = [*BOOK.glob("*.md"), *BOOK.glob("*.ipynb")]
    groups = [group for page in pages for group in re.findall(r"\{cite:\w\}`([^`]+)`", page.read_text("utf-8"))]
    assert listed == {key.strip() for group in groups for key in group.split(",")}
