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

# planted faults, healthy twins, case tests and healthy programs judged; writes docs/results.md and the table in README.md
score:
    python scripts/score.py
    python scripts/false_alarms.py

# what is too long for a commit: every twin, plant, loop and program, started as users start them; by hand, at night
sweep:
    python scripts/sweep.py

# what is generated: docs/tree.md, docs/checks/, docs/causes/ and docs/gallery.md, docs/results.md and the table in README.md, the table in faults/README.md, the pictures (after `just demo`)
docs:
    python scripts/tree.py --write
    python scripts/catalogue.py --write
    python scripts/results_page.py --write
    python scripts/score.py --list > /dev/null
    python scripts/picture.py
    python scripts/page_picture.py
    python scripts/page_animation.py

# the page, built from page/ into the package; needs node 20.19 or later
page:
    bash scripts/page.sh

# the documentation site, in site/: open site/index.html
site:
    bash scripts/setup.sh docs
    NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict

# CHANGELOG.md from changes/; `just changelog --released` dates the section and deletes the fragments
changelog *options:
    bash scripts/setup.sh docs
    python scripts/changelog.py {{options}}

# wheel and sdist of the last commit in dist/, each installed and tried in an empty environment; publishes nothing
release:
    bash scripts/release.sh

# what watching costs, against bare training and the peers
bench:
    python benchmarks/store.py
    for clock in cpu wall; do python benchmarks/overhead.py --clock $clock; done
    python benchmarks/steps.py
    python scripts/results_page.py --write

# CPU time of training programs of other people, bare and watched; fetches them (an hour; gymnasium==0.29.1, tyro, timm, torchvision, lightning, transformers)
bench-programs *options:
    python benchmarks/programs.py {{options}}

# what all at rest costs inside eight of them, on a machine on which nothing else runs (7 minutes)
bench-at-rest *options:
    python benchmarks/programs_at_rest.py {{options}}
    python scripts/results_page.py --write

# mutation testing of diagnosis, causes, interventions, checks and recorder: `just mutants --sample 0` takes a night, 40 take minutes
mutants *options:
    python scripts/mutants.py {{options}}
