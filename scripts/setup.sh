#!/usr/bin/env bash
# Makes .venv with torch and debug-tracer. `bash scripts/setup.sh demo,test` adds extras. Quick when nothing has changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
extras="${1:-}"
python="${PYTHON:-python3.11}"

stamps="base ${extras//,/ }"
wanted="$(cat pyproject.toml constraints.txt scripts/setup.sh | sha256sum | cut -d' ' -f1)"
is_fresh() {
    [ -x .venv/bin/debug-tracer ] || return 1
    for extra in $stamps; do [ "$(cat ".venv/setup-$extra.stamp" 2>/dev/null)" = "$wanted" ] || return 1; done
}
if is_fresh; then exit 0; fi

echo "setting up .venv: up to two minutes" >&2
[ -x .venv/bin/python ] || "$python" -m venv .venv || { echo "setup: $python cannot make a virtual environment; install python3.11 with its venv module" >&2; exit 1; }

torch="$(grep '^torch==' constraints.txt)"
# uv takes 15 seconds where pip takes 100; it reads none of pip's settings, so they are handed over, and where it fails pip does it all.
install() {
    if [ -x .venv/bin/uv ]; then
        .venv/bin/uv pip install -q --python .venv/bin/python --index-strategy unsafe-best-match "${as_pip[@]}" "$@" 2>/dev/null && return
    fi
    .venv/bin/pip install -q "$@"
}
.venv/bin/pip install -q uv 2>/dev/null || true
mapfile -t as_pip < <(.venv/bin/pip config list | .venv/bin/python -c '
import ast, sys
options = {"find-links": "--find-links", "index-url": "--default-index", "extra-index-url": "--index", "constraint": "-c"}
for line in sys.stdin:
    key, _, value = line.strip().partition("=")
    if option := options.get(key.rpartition(".")[2]):
        for one in ast.literal_eval(value).split():
            print(option, one, sep="\n")
')
if ! .venv/bin/python -c "import importlib.metadata as m, sys; sys.exit(m.version('torch').split('+')[0] != '${torch#torch==}')" 2>/dev/null; then
    if [ -n "${TORCH_INDEX:-}" ]; then
        .venv/bin/pip install -q "$torch" --index-url "$TORCH_INDEX"
    else
        ls ${PIP_FIND_LINKS:-/nonexistent}/torch-* >/dev/null 2>&1 ||
            echo "setup: installing $torch; without TORCH_INDEX (the address of a CPU index of torch) this may be the CUDA build of several GB"
        install "$torch"
    fi
fi
install -c constraints.txt -e ".${extras:+[$extras]}"
# Triton for the tests of its kernels: beside the environment, for inside it torch would look at it; a test says so where it is missing.
case ",$extras," in *,test,*) install --no-deps --target .venv/triton triton==3.9.0 || true ;; esac
# Where nothing compiled may be written (many containers set that) each process would compile torch and ours again.
if [ -n "${PYTHONDONTWRITEBYTECODE:-}" ]; then
    .venv/bin/python -m compileall -q -j 0 .venv/lib/python3*/site-packages/torch src >/dev/null || true
fi
for extra in $stamps; do echo "$wanted" > ".venv/setup-$extra.stamp"; done
