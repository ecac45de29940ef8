# The commands of this repository; `just` comes with the test extra (package rust-just).
export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

default:
    @just --list

# fast: style, types, import contracts, the tests of the house
check:
    ruff check .
    ruff format --check .
    mypy
    lint-imports
    python -m pytest tests/house

# everything that CI runs
test:
    bash scripts/test.sh

# the two demo runs and their verdicts
demo:
    bash scripts/demo.sh

# planted faults, healthy twins and shared cases judged; writes the table in README.md
score:
    python scripts/score.py
    python scripts/false_alarms.py

# what is generated: the tree in ARCHITECTURE.md, docs/checks/ and docs/gallery.md, the table in faults/README.md, the picture in the README (after `just demo`)
docs:
    python scripts/tree.py --write
    python scripts/catalogue.py --write
    python scripts/score.py --list > /dev/null
    python scripts/picture.py

# what watching costs, against bare training and the peers
bench:
    python benchmarks/store.py
    for clock in cpu wall; do python benchmarks/overhead.py --clock $clock; done
    python scripts/cost.py
