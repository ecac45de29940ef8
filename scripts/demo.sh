#!/usr/bin/env bash
# Trains two small networks with a real fault in their data under watch; debug-tracer stops both and says where the first bad value was born.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bash scripts/setup.sh demo
runs="${DEMO_RUNS:-debug-tracer-runs/demo}"
rm -rf "$runs"

watch() {
    echo "== debug-tracer run demo/$1.py"
    local status=0
    .venv/bin/debug-tracer run --out "$runs" --name "$1" "demo/$1.py" || status=$?
    [ "$status" = 3 ] || { echo "demo: demo/$1.py ended with status $status; expected 3, the stop of debug-tracer. Look at $runs/$1" >&2; exit 1; }
}

# expect NAME LINE OP SAMPLE: the verdict of a run in one line, which must name what was planted
expect() {
    .venv/bin/debug-tracer report "$runs/$1" --format json | .venv/bin/python scripts/expect.py "$2" "$3" "$4" "$runs/$1"
}

watch charlm
watch digits

for name in charlm digits; do
    echo
    echo "== debug-tracer report $runs/$name --batch"
    .venv/bin/debug-tracer report "$runs/$name" --batch
done
echo
echo "== two verdicts"
expect charlm 42 aten::_softmax 1666
expect digits 20 aten::div 1203
