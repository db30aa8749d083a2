#!/bin/sh
# Builds wheel and sdist, installs each in an environment of its own, and uses it there.
# SUMFIT_PYTHON names the interpreter (default python3); it needs the package `build`.
# SUMFIT_CHECK_MODEL names a model directory to use where the package holds no default model.
set -eu
cd "$(dirname "$0")/.."
python=${SUMFIT_PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONNOUSERSITE=1

"$python" -m build --quiet --outdir "$work/dist" . >"$work/build.log" 2>&1 || {
  tail -40 "$work/build.log" >&2
  exit 1
}
wheel=$(ls "$work"/dist/*.whl)
sdist=$(ls "$work"/dist/*.tar.gz)
bytes=$(wc -c <"$wheel")
echo "wheel $(basename "$wheel"): $((bytes / 1024)) KiB"
[ "$bytes" -lt $((45 * 1024 * 1024)) ] || { echo "the wheel is over 45 MiB" >&2; exit 1; }

for artifact in "$wheel" "$sdist"; do
  venv=$work/$(basename "$artifact").venv
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet "$artifact"
  mebibytes=$(du -sm "$venv" | cut -f1)
  echo "core environment: $mebibytes MiB"
  [ "$mebibytes" -lt 530 ] || { du -sm "$venv"/lib/python*/site-packages/* | sort -n | tail >&2; exit 1; }
  "$venv/bin/pip" install --quiet "$artifact[serve]"
  cd "$work" # away from the sources, so that only what was installed can be imported
  "$venv/bin/sumfit" --version
  "$venv/bin/sumfit" presets >/dev/null
  "$venv/bin/python" - <<'PY'
import importlib.util
import sumfit
from sumfit.serving.app import openapi_document

assert "site-packages" in sumfit.__file__, sumfit.__file__
assert importlib.util.find_spec("torch") is None, "the core must not bring torch"
assert "/v1/summarize" in openapi_document()["paths"]
from importlib.resources import files
page = files("sumfit.serving") / "page"
names = sorted(entry.name for entry in page.iterdir())
assert {"index.html", "app.js", "style.css"} <= set(names), names
assert (files("sumfit") / "py.typed").is_file()
PY
  text="Engineers closed the old bridge on Tuesday after an inspection found cracks."
  if [ -n "${SUMFIT_CHECK_MODEL:-}" ]; then set -- --model "$SUMFIT_CHECK_MODEL"; else set --; fi
  summary=$("$venv/bin/sumfit" "$text" --max-chars 50 "$@")
  [ -n "$summary" ] || { echo "no summary" >&2; exit 1; }
  if [ -z "${SUMFIT_CHECK_MODEL:-}" ]; then # the default model has a scorer, and can do without
    "$venv/bin/sumfit" "$text" --max-chars 50 --rerank none >/dev/null
  fi
  echo "$(basename "$artifact"): $summary"
  cd - >/dev/null
done
echo "packages are good"
