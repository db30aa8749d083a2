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
  "$venv/bin/python" scripts/environment_size.py --limit 480
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

# What docker/cpu.Dockerfile does with the wheel, as far as it goes without an engine: its start
# command and its health check, on a free port.
bin=$work/$(basename "$wheel").venv/bin
port=$("$bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$bin/sumfit" warmup
if [ -n "${SUMFIT_CHECK_MODEL:-}" ]; then set -- --model "$SUMFIT_CHECK_MODEL"; else set --; fi
"$bin/sumfit" serve --port "$port" "$@" 2>"$work/serve.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
health=$(sed -n 's/^ *CMD \["python", "-c", "\(.*\)"\]$/\1/p' docker/cpu.Dockerfile | sed "s/8077/$port/")
tries=0
until "$bin/python" -c "$health" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 120 ] || { tail -5 "$work/serve.log" >&2; exit 1; }
  sleep 1
done
kill "$server"
wait "$server" || [ $? -eq 143 ]
echo "the server is healthy"
echo "packages are good"
