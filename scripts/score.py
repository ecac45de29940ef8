"""The scoreboard: watches planted faults with their healthy twins, the case tests and the plants of faults/programs;
compares verdicts with the truth.

    python scripts/score.py [--faults | --cases | --programs] [--only NAME,NAME] [--jobs 2] [--check] [--tool COMMAND]
    python scripts/score.py --baselines   the same without trials, with random trials, and as it is today (slow)
    python scripts/score.py --variant "cost 1"   the same with `--cost 1`: a line of its own below each group
    python scripts/score.py --json FILE   keeps the rows of a part in FILE; rows of other scripts stay
    python scripts/score.py --list        the table of faults/README.md, from the truth files alone

It judges with the scorer of the case tests (scripts/case_tests.py says where they lie), so that the two boards cannot
differ. Without it it says so in one line and ends with status 0 (status 1 under CI=true). A whole run writes
benchmarks/results/DATE-score.json, docs/results.md and the table of README.md from it."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
import results_page
from board import figures, overview
from case_tests import SCORER
from marks import Row, judge, load_scorer, parallel, told, with_settings
from results import BASELINES, FULL, VARIANTS, Rows, dated, merged, read, write
from row_tables import between, catalogue, summary
from stamp import stamp
from truths import FAULTS, HELD_OUT, LEARNT, NAMES, PLANTED, SHARED_CASES, Script, is_wanted, of_group

UNTRIED = {"silent", "crash", "no_learning", "slow", "none"}
"""Symptoms without an incident or a jump."""
ASKED = {"faults": (PLANTED,), "cases": (SHARED_CASES,), "programs": (LEARNT, HELD_OUT)}


def arguments() -> argparse.Namespace:
    """The words after the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--faults", action="store_true", help="only the planted faults and their twins")
    which.add_argument("--cases", action="store_true", help="only the case tests")
    which.add_argument(
        "--programs", action="store_true", help="only the plants of faults/programs and the programs themselves"
    )
    parser.add_argument(
        "--only",
        default="",
        help="names, ends of names, programs or layers, separated by commas; nothing is written then",
    )
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="run the two baselines instead: no trials, random trials (faults only, no healthy script)",
    )
    parser.add_argument("--variant", choices=list(VARIANTS), default=FULL, help="run the tool with these settings")
    parser.add_argument(
        "--json",
        type=Path,
        help=(
            "keep the rows in this file, beside those of other scripts (a whole run: "
            "benchmarks/results/DATE-score.json)"
        ),
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="status 1 if a mark that must be right is wrong")
    parser.add_argument("--tool", help="the command to score (default: debug-tracer beside this Python)")
    parser.add_argument("--timeout", type=float, default=400.0, help="seconds per script")
    parser.add_argument("--keep", help="keep the runs under this folder")
    parser.add_argument("--list", action="store_true", help="rewrite the table of faults/README.md and end")
    return parser.parse_args()


def command(given: str | None) -> list[str]:
    """The tool as absolute words: what was given, the installed command, or python -m debugtracer."""
    beside = Path(sys.executable).with_name("debug-tracer")
    words = shlex.split(given) if given else [str(beside)] if beside.exists() else [sys.executable, "-m", "debugtracer"]
    return [os.path.abspath(shutil.which(words[0]) or words[0]), *words[1:]]


def chosen(args: argparse.Namespace) -> dict[str, list[Script]]:
    """The scripts to run by group, in order."""
    wanted = [name for name in args.only.split(",") if name]
    asked = next((titles for word, titles in ASKED.items() if getattr(args, word)), tuple(NAMES))
    return {
        title: [
            script
            for script in of_group(title)
            if (not wanted or is_wanted(script.name, wanted)) and not (args.baselines and script.is_healthy)
        ]
        for title in asked
    }


def scored(
    scripts: list[Script],
    scorer: ModuleType,
    args: argparse.Namespace,
    settings: Mapping[str, str],
    same: Mapping[str, Row],
) -> Iterator[Row]:
    """Run the scripts, some at a time, and give and print each row as it comes, in order; rows in `same` cannot differ
    and are taken over."""
    tool = with_settings(command(args.tool), settings)
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(
            lambda script: same.get(script.name) or judge(script, scorer, tool, args.timeout, args.keep), scripts
        ):
            print(told(row), flush=True)
            yield row


def untried(path: Path | None, variant: str, title: str) -> dict[str, Row]:
    """Rows of the full tool in which nothing was executed again, of symptoms that start no trial: the baselines, which
    change trials alone, give the same."""
    full = read(path).get(FULL, {}) if path is not None and variant in BASELINES else {}
    return {row.script: row for row in full.get(title, []) if not row.trials and row.symptom in UNTRIED}


def measured(args: argparse.Namespace, scorer: ModuleType) -> dict[str, Rows]:
    """Run what was asked for, variant by variant; each row is kept as it comes where a file was named, so that a broken
    run is not lost."""
    done: dict[str, Rows] = {}
    for variant in BASELINES if args.baselines else (args.variant,):
        for title, scripts in chosen(args).items():
            rows: list[Row] = []
            for row in scored(scripts, scorer, args, VARIANTS[variant], untried(args.json, variant, title)):
                rows.append(row)
                if args.json:
                    kept(args.json, {variant: {title: [row]}})
            if rows:
                done.setdefault(variant, {})[title] = rows
                print(f"{title}, {variant}: {summary(rows)}", flush=True)
    return done


def about() -> dict[str, Any]:
    """What was measured, and when."""
    return stamp() | {"machine": f"CPU, {os.cpu_count()} cores"}


def kept(path: Path, new: dict[str, Rows], whole: bool = False) -> dict[str, Rows]:
    """Write the rows beside those that the file has, and give all of them; a whole run leaves no older row of its
    variants."""
    old = {variant: rows for variant, rows in read(path).items() if not (whole and variant in new)}
    rows = merged(old, new)
    write(path, rows, about(), figures(rows))
    return rows


def main() -> int:
    """Run what was asked for; the status is 1 only under --check, or when the scorer is missing under CI=true."""
    args = arguments()
    if args.list:
        between(FAULTS / "README.md", "faults", catalogue())
        print(catalogue())
        return 0
    scorer = load_scorer(SCORER)
    if scorer is None:
        print(f"nothing scored: {SCORER} is missing (scripts/case_tests.py says how to name another folder)")
        return int(os.environ.get("CI", "") == "true")
    parallel(args.jobs)
    if args.keep:
        Path(args.keep).mkdir(parents=True, exist_ok=True)
    done = measured(args, scorer)
    if not any((args.only, args.faults, args.cases, args.programs, args.json)):
        path = dated(about()["date"])
        kept(path, done, whole=True)
        print("\n".join([f"wrote {path}", *(f"wrote {page}" for page in results_page.write())]))
    print("\n".join(["", *overview(done), ""]))
    rows = [row for part in done.values() for group in part.values() for row in group]
    wrong = [row for row in rows if row.wrong]
    print(
        f"{len(wrong)} of {len(rows)} scripts have a mark wrong that must be right"
        + (": " + ", ".join(row.script for row in wrong) if wrong else "")
    )
    return int(bool(args.check and wrong))


if __name__ == "__main__":
    sys.exit(main())
