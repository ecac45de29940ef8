#!/usr/bin/env bash
# Builds the page into the package: page/ -> src/debugtracer/views/page/template.html, with the hash of its sources beside it. Needs node; users do not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -d page/node_modules ] || npm --prefix page ci --silent --no-fund --no-audit
npm --prefix page run --silent check
npm --prefix page run --silent build
cp page/dist/index.html src/debugtracer/views/page/template.html
python3 scripts/page_hash.py --write
