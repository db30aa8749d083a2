.PHONY: install lint type test docs package help
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

docs: ## the documentation site, in site/; a warning is an error
	$(PY) -m mkdocs build --strict --quiet

package: ## wheel and sdist, built, installed and used in environments of their own
	SUMFIT_PYTHON=$(PY) sh scripts/check_package.sh

help: ## this text
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
