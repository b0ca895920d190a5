# Two commands do everything: `make run` and `make test`. The rest is for people who work on Bowerbird.

PYTHON ?= python3.11
ifeq ($(shell command -v $(PYTHON) 2>/dev/null),)
PYTHON := python3
endif
VENV := .venv
BIN := $(VENV)/bin
RUN_EXTRAS := telegram,discord,slack,local,anthropic,openai,ollama,files,web
NPM_TOOLS := .npm
REFEREES := .referees

.PHONY: run test tests-of prove lint format bench clean screenshot debian-packages help

help:
	@echo "make run    install what the first answer needs and start the daemon"
	@echo "make test   install what the tests need and run everything that CI runs"
	@echo "make prove  the exhaustive suites: every kill point, every prefix, the real model's ten questions"
	@echo "make lint   formatting, lint, types and layers only"
	@echo "make bench  measure and write the tables"
	@echo "make clean  remove what these commands made (not your data)"

run: $(VENV)/.run
	@$(BIN)/bowerbird run

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[$(RUN_EXTRAS)]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[$(RUN_EXTRAS)]" --group test
	@touch $@

# Chromium and fonts for the tests of the page; skipped where we may not install, then those tests say so.
debian-packages:
	@tests/install-debian-packages.sh

# The third-party emulators: one from npm, one in an environment of its own (see its requirements.txt).
$(NPM_TOOLS)/.done: tests/referees/package.json
	@mkdir -p $(NPM_TOOLS)
	@if command -v npm >/dev/null; then cp tests/referees/package.json $(NPM_TOOLS)/ && npm install --silent --no-audit --no-fund --prefix $(NPM_TOOLS); \
	else echo "npm is not installed: the tests with the npm referee are left out"; fi
	@touch $@

$(REFEREES)/.done: tests/referees/requirements.txt | $(VENV)/.test
	$(BIN)/python -m venv --without-pip $(REFEREES)
	$(BIN)/pip --python $(REFEREES) install --quiet --disable-pip-version-check --requirement $<
	@touch $@

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The browser's tests run by themselves: what they look at must not wait for a process that dies beside them.
test: $(VENV)/.test debian-packages $(NPM_TOOLS)/.done $(REFEREES)/.done lint
	@$(MAKE) --no-print-directory tests-of WHICH="browser and not prove" REPORT="--cov --cov-report="
	@$(MAKE) --no-print-directory tests-of WHICH="not browser and not prove" REPORT="--cov --cov-append --cov-report=term:skip-covered"

# Four at once on two cores: most tests wait for a platform's pace, not for the processor.
# What fails on a machine that others keep busy must pass at once when it runs alone; the first failure stays in the output.
tests-of:
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 4 --dist loadfile -m "$(WHICH)" $(REPORT) || \
	OMP_NUM_THREADS=1 $(BIN)/pytest --last-failed --last-failed-no-failures none -m "$(WHICH)"

prove: $(VENV)/.test debian-packages $(NPM_TOOLS)/.done $(REFEREES)/.done
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "prove or not prove" --timeout 900

bench: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench

screenshot: $(VENV)/.test debian-packages
	$(BIN)/python -m tests.channels.web.shot docs page

clean:
	rm -rf $(VENV) $(NPM_TOOLS) $(REFEREES) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
