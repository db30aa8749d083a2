.PHONY: install lint type test test-long test-gpu docs check bench help
PY ?= python3

install: ## install the package with everything the checks need (torch first, CPU build)
	$(PY) -m pip install torch==2.13.0
	$(PY) -m pip install -e '.[train,serve,eval,parquet,zstd,dev]'

lint: ## style, docstrings against signatures, import ladder
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pydoclint.main src || pydoclint src
	lint-imports

type: ## mypy, strict
	$(PY) -m mypy

test: ## the fast tests
	$(PY) -m pytest

help: ## this text
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
