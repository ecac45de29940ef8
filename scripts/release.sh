#!/usr/bin/env bash
# Makes a release from the last commit and tries it: changelog, sdist and wheel in dist/, each installed in an environment of its own. Publishes nothing.
# torch and what torch needs are linked from .venv into those environments (they are gigabytes); everything else is installed by pip as a user gets it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh release
python="$PWD/.venv/bin/python" source="$PWD" dist="$PWD/dist"
[ -z "$(git status --porcelain)" ] || echo "release: what is not committed has no part in it" >&2
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

echo "== build"
mkdir "$work/tree"
git archive HEAD | tar -x -C "$work/tree"
"$python" "$work/tree/scripts/changelog.py" --released
rm -rf "$dist"
"$python" -m build --outdir "$dist" "$work/tree" >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
"$python" -m twine check --strict "$dist"/*

# try_out FILE: installs it in an empty environment and has it diagnose the first demo, from a folder that holds nothing but that program
try_out() {
    local name="${1##*/}" home="$work/try"
    rm -rf "$home"
    mkdir -p "$home/empty"
    echo "== $name"
    "$python" -m venv "$home/venv"
    local bin="$home/venv/bin" status=0
    "$python" "$source/scripts/lend_torch.py" "$("$bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
    "$bin/pip" install -q "$1"
    cp demo/charlm.py "$home/empty/"
    cd "$home/empty"
    "$bin/python" -c 'import sys, debugtracer; sys.exit(not debugtracer.__file__.startswith(sys.prefix))' || { echo "release: another debugtracer than that of $name is imported" >&2; exit 1; }
    "$bin/debug-tracer" --help >/dev/null
    "$bin/debug-tracer" doctor
    "$bin/debug-tracer" run --out runs --name charlm charlm.py >run.log 2>&1 || status=$?
    [ "$status" = 3 ] || { cat run.log >&2; echo "release: charlm.py ended with status $status; expected 3, the stop of debug-tracer" >&2; exit 1; }
    "$bin/debug-tracer" report runs/charlm --format json | "$bin/python" "$source/scripts/expect.py" 42 aten::_softmax 1666 runs/charlm
    cd "$source"
}

export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"  # the demo is small: more threads only wait for each other
unset PYTHONPATH "${!DEBUG_TRACER@}"
for file in "$dist"/*.whl "$dist"/*.tar.gz; do try_out "$file"; done

echo "== ready in dist/; nothing was published"
ls -l "$dist"
