# Two commands do everything: `make book` and `make test`; `make quick` is for in between. Each makes .venv first, from
# requirements.txt.
# Without make, see "Without make" in README.md.

PYTHON ?= python3
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
BENCH := .venv-bench/$(SCRIPTS)
BEYOND := $(patsubst beyond/%/requirements.txt,%,$(wildcard beyond/*/requirements.txt))
SITE := _build/html/book/index.html

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

book: .venv  ## build the site, warnings as errors, and print the page to open
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "Open: $(CURDIR)/$(SITE)"

quick: .venv  ## run what needs no browser, no model, no kernel and no new environment
	$(BIN)/python -m tools.test --quick

test: .venv  ## run every test
	$(BIN)/python -m tools.test

lab: .venv  ## open the notebooks in JupyterLab
	-$(BIN)/python -m lmhead --fetch
	$(BIN)/jupyter lab --notebook-dir=. book/01_hidden_is_not_a_token.ipynb

refresh: .venv  ## run every notebook anew and store it in canonical form
	$(BIN)/python -m lmhead --fetch
	$(BIN)/python -m tools.refresh

pins: .venv  ## pin anew what no computation can check, and show the sentences that changed
	$(BIN)/python -m tools.pins

coverage: .venv  ## which branches of lmhead the tests run: all of the core, 95 % of the package
	$(BIN)/python -m tools.coverage

model: .venv  ## fetch the real model (93 MB, once)
	$(BIN)/python -m lmhead --fetch

live: .venv  ## run every cell of every chapter on its page, and compare with what the book shows
	$(BIN)/python -m pytest tests/site/test_live_python.py -k every_cell --every-chapter

serve: book  ## build, then serve the site at http://127.0.0.1:8000/book/
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html 8000

bench: .venv-bench book  ## measure speed, memory and accuracy beside scipy, torch and jax; and the pages
	$(BENCH)/python benchmarks/run.py --write
	$(BIN)/python -m benchmarks.page --write

mutants: .venv  ## put faults into the project, one at a time, and see each caught
	$(BIN)/python -m tools.mutants

sweep: .venv  ## compare the cut style of every page with the whole style sheets; `make test` looks at four pages
	$(BIN)/python -m pytest -q tests/site/test_cut_styles.py --every-page

round: .venv  ## run every notebook under other Pythons, NumPys, locales, time zones, threads
	$(BIN)/python -m lmhead --fetch
	$(BIN)/python -m tools.round

twins: test-beyond-twins  ## run the tabs of other frameworks, and compare what they print

COURSE ?= _build/course
assignments: .venv-classroom  ## the exercises as assignments for nbgrader, with their solutions, in _build/course
	.venv-classroom/$(SCRIPTS)/python -m beyond.classroom.assignments $(COURSE)

class: .venv-classroom  ## as root, on Linux: a hub with a teacher and three students, to look at
	@.venv-classroom/$(SCRIPTS)/python -m beyond.classroom.demonstration

test-beyond: $(BEYOND:%=test-beyond-%)  ## run the tests of each folder in beyond/, in its own environment

lock: .venv  ## resolve requirements.in into requirements.txt, for every Python and system that we support
	$(BIN)/python -m tools.lock

clean:  ## remove all that was built, the environments too
	rm -rf _build .venv .venv-* *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The stamp is touched last: an installation that broke off is done again.
.venv: .venv/installed
.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; this is " + sys.version)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv-bench: .venv-bench/installed
.venv-bench/installed: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	$(BENCH)/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	touch $@

# Each folder of beyond/ that has requirements gets an environment: `make .venv-several_machines`.
.venv-%/installed: beyond/%/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(BEYOND:%=.venv-%): .venv-%: .venv-%/installed

$(BEYOND:%=test-beyond-%): test-beyond-%: .venv-%/installed
	.venv-$*/$(SCRIPTS)/python -m pytest beyond/$*

.DEFAULT_GOAL := help
.PHONY: help book quick test lab refresh pins coverage model live serve bench mutants sweep round twins assignments class \
	lock clean .venv .venv-bench \
	test-beyond $(BEYOND:%=test-beyond-%) $(BEYOND:%=.venv-%)
