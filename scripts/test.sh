#!/usr/bin/env bash
# Sets up and passes all tests: style, types, import contracts, pytest. CI calls the same script.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh demo,test,docs
command -v c++ >/dev/null || { apt-get update -q && apt-get install -y -q g++; } >/dev/null 2>&1 || true  # builds the stand-in device; its tests say so where it is missing
command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends -o Acquire::Retries=3 chromium; } >/dev/null 2>&1 || true  # draws the page; its tests say so where it is missing
command -v promtool >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends prometheus; } >/dev/null 2>&1 || true  # checks the alert rules; their test says so where it is missing
export PATH="$PWD/.venv/bin:$PATH"
ruff check .
ruff format --check .
python scripts/tree.py --check
typed="$(mktemp)"
{ mypy && lint-imports; } > "$typed" 2>&1 &  # one core is enough for them: beside the tests
types=$!
trap 'kill "$types" 2>/dev/null || true; rm -f "$typed"' EXIT
workers="$(($(nproc) + 1))"  # one more than cores: tests also wait; asked before OMP_NUM_THREADS, which nproc answers with
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"  # several processes of tests, each of which starts programs of its own
unset PYTHONDONTWRITEBYTECODE  # with it each of these programs compiles all of ours again
python -m pytest --collect-only -qq "$@" > /dev/null 2>&1 || true  # compiles the tests once, not once in each worker
status=0
python -m pytest -n "$workers" --dist worksteal "$@" || status=$?
wait "$types" || status=1
cat "$typed"
exit "$status"
