.PHONY: install quick check hooks lint type test pages docs package help
PY ?= python3
# No model, no process of its own, no clock: what a mistake while typing breaks.
QUICK = tests/length tests/text tests/cleaning tests/truth/test_support.py tests/test_config.py \
	tests/test_processors.py tests/test_dag.py tests/test_nfc.py tests/test_deadline.py

install: ## install the package with everything the checks need (TORCH_INDEX: index of torch's CPU build)
	$(PY) -m pip install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==2.13.0
	$(PY) -m pip install -e '.[train,serve,eval,mcp,langchain,parquet,zstd,excel,dev]'

quick: ## types, style and the fastest tests, before every commit
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	lint-imports
	$(PY) -m mypy
	OMP_NUM_THREADS=1 $(PY) -m pytest -q -n auto --maxprocesses 4 $(QUICK) -k 'not time_grows'

check: lint type test ## everything that guards a change, as scripts/test.sh

hooks: ## let git run `make quick` before every commit
	git config core.hooksPath scripts/hooks

lint: ## style, docstrings against signatures, import ladder
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pydoclint.main src || pydoclint src
	lint-imports

type: ## mypy, strict
	$(PY) -m mypy

test: ## all tests but the slow ones, side by side, as scripts/test.sh
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile

pages: ## references and keywords, written again from registries, declarations and commands
	$(PY) scripts/make_keywords.py
	$(PY) scripts/make_options_page.py
	$(PY) scripts/make_cli_page.py
	$(PY) -m sumfit.serving.reference > docs/http-api.md.new && mv docs/http-api.md.new docs/http-api.md

docs: ## the documentation site, in site/; a warning is an error
	$(PY) -m mkdocs build --strict --quiet

package: ## wheel and sdist, built, installed and used in environments of their own
	SUMFIT_PYTHON=$(PY) sh scripts/check_package.sh

help: ## this text
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
