#!/bin/sh
# Everything that guards a change: style, docstrings, import ladder, types, tests.
# Makes its own virtual environment in .venv-test; SUMFIT_PYTHON names another interpreter, and
# TORCH_INDEX the package index of torch's CPU build, which spares 5 GB.
set -eu
cd "$(dirname "$0")/.."
python=${SUMFIT_PYTHON:-python3}
venv=.venv-test
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip() { "$venv/bin/python" -m pip --disable-pip-version-check -q "$@"; }
pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} 'torch==2.13.0'
pip install -e '.[train,serve,eval,mcp,langchain,parquet,zstd,excel,dev]'
. "$venv/bin/activate"
ruff check .
ruff format --check .
pydoclint --quiet src
lint-imports
mypy
# Tests run side by side, those of a file in one process, as many share a model or a server. torch gets
# one thread in each: threads of two processes wait for each other, seconds a step on two processors.
export OMP_NUM_THREADS=1
python -m pytest -n auto --maxprocesses 4 --dist loadfile "$@"
