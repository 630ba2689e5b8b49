"""What the built pages are made of."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_CUT = "tests/site/test_cut_styles.py -k stays"
T_COLOURS = "tests/site/test_every_page.py -k colours_before"
T_META = "tests/site/test_page_meta.py -k own"
T_SAID = "tests/site/test_screen_readers.py -k written"
T_SITE = "tests/site/test_site.py"

FAULTS = [
    Mutant("styles: a script's class is not looked for", "book/_ext/cut_styles.py", 'or name.lstrip(".#[") in self.words', "", T_CUT),
    Mutant("styles: properties behind properties are lost", "book/_ext/cut_styles.py", "        used |= more\n", "        break\n", T_CUT),
    Mutant("formula: words of two letters are spelled", "book/_ext/static_math.py", "<mn>\\d</mn>)+", "<mn>\\d</mn>){2,}", T_SAID),
    Mutant("formula: words are spelled", "book/_ext/static_math.py", "<mn>\\d</mn>)+", "<mn>\\d</mn>){99}", T_SAID),
    Mutant("page: painted before it has its colours", "book/_templates/layout.html", 'dataset.mode === "auto"', 'dataset.mode === "dark"', T_COLOURS),
    Mutant("page: without a description", "_config.yml", "      book/questions: Short", "      book/question: Short", T_META),
    Mutant("page: broken link", "book/index.md", 'href="../course.zip"', 'href="course.zip"', f"{T_SITE} -k inside_the_site"),
    Mutant("page: a picture from another host", "book/_templates/navbar-logo.html", '<a class="navbar-brand logo"', '<img src="//example.org/a.svg" alt=""><a class="navbar-brand logo"', f"{T_SITE} -k another_host"),
    Mutant("page: a card's chapter", "book/index.md", "chapter 6, matrix product, derivative", "chapter 5, matrix product, derivative", f"{T_SITE} -k cards"),
    Mutant("page: a negative number is drawn as a positive one", "book/_static/chain/hidden.svg", 'fill="none" stroke="#14917f" stroke-width="2" data-value="-0.6"', 'fill="#14917f" data-value="-0.6"', "tests/book/test_landing_picture.py"),
    Mutant("page: figures are as narrow as a phone", "book/_static/book.css", "max-width: max(100cqw, 540px)", "max-width: 100cqw", "tests/site/test_accessible.py -k phone"),
    Mutant("page: a card does not show the focus", "book/_static/book.css", ":focus-visible { outline: 3px solid var(--pst-color-accent); outline-offset: 2px; }\n\n/* Twins", ":focus-visible { outline: 3px solid transparent; outline-offset: 2px; }\n\n/* Twins", "tests/site/test_accessible.py -k phone"),
    Mutant("page: the contents on a phone lose the focus", "book/_static/book.js", 'button.focus()', 'button', "tests/site/test_screen_readers.py -k narrow"),
    Mutant("page: the contents on a phone leave a tooltip", "book/_static/book.js", 'button?.removeAttribute("data-bs-toggle")', '', "tests/site/test_screen_readers.py -k narrow"),
    Mutant("meta: every page is shared under the title of the book", "book/_ext/page_meta.py", "\"og:title\": title}", "\"og:title\": app.config.html_title}", "tests/site/test_page_meta.py -k own"),
    Mutant("build: an incremental one keeps the old style", "book/_ext/whole_builds.py", "folders = (\"_ext\", \"_static\", \"_templates\")", "folders = (\"_ext\", \"_templates\")", "tests/site/test_site.py -k decides"),
]  # fmt: skip
