# Every target works as the first command on a fresh clone: Python 3.11 or newer, pip and make are enough.
# Nothing is installed outside .venv and .venv-extras.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := .venv-extras
TORCH := torch==2.13.0

# Build what is shared one after the other, also under `make -j`: two pips in one folder would spoil each other's work.
USABLE := $(VENV)/.usable
READY_TO_TEST := $(VENV)/.ready-to-test

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench test-extras clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: $(USABLE) ## a sample memory, four searches with their reasons, and why one record was not found
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: $(READY_TO_TEST) ## all tests, those of the benchmark too
	$(BIN)/python -m pytest

check: $(READY_TO_TEST) ## format, lint, types, and the direction of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY_TO_TEST) ## put the code into the form that `make check` wants
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY_TO_TEST) ## latency at 1,000 and 100,000 records beside FTS5 + sqlite-vec; takes minutes
	$(BIN)/python -m bench latency --sizes 1000,100000 --json out.json

test-extras: $(EXTRAS)/.ready ## the tests that need torch, in an environment of their own
	$(EXTRAS)/bin/python -m pytest tests/extras

clean: ## remove everything that the other targets made
	rm -rf $(VENV) $(EXTRAS) build dist out.json demo.db demo.db-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(USABLE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --editable .
	@touch $@

$(READY_TO_TEST): $(USABLE)
	$(BIN)/python -m pip install -qq --editable ".[dev]"
	@touch $@

$(EXTRAS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install -qq "$(TORCH)" --editable ".[sentence-transformers]" pytest
	@touch $@
