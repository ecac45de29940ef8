"""False alarms on healthy but nasty programs: runs every program of healthy/ under watch, with two seeds, and counts
what we say.

    python scripts/false_alarms.py [--only NAME,NAME] [--seeds 2] [--jobs 2] [--check] [--keep FOLDER]

Every error or warning on one of them is false. A whole run writes benchmarks/results/DATE-false-alarms.json and
docs/results.md with the table of README.md."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import results_page
from kept import keep

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "healthy"
GOAL = 0.1  # errors and warnings per 1,000 steps (issue 4)


@dataclass
class Watched:
    """What one run came to."""

    name: str
    seed: int
    status: int
    steps: int = 0
    loud: list[str] = field(default_factory=list)
    notes: int = 0
    problem: str = ""


def watch(
    name: str, seed: int, keep: str | None, tool: Sequence[str] = (sys.executable, "-m", "debugtracer")
) -> Watched:
    """Run one program in a folder of its own, under this command."""
    if keep is not None:
        Path(keep).mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"healthy-{name}-", dir=keep))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    script = str(PROGRAMS / f"{name}.py")
    done = subprocess.run(
        [*tool, "run", "--mode", "dev", "--out", str(work / "runs"), script, str(seed)],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    told = subprocess.run(
        [*tool, "report", str(work / "runs"), "--format", "json"],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    if told.returncode:
        return Watched(name, seed, done.returncode, problem=(told.stderr or done.stderr)[-300:])
    report: dict[str, Any] = json.loads(told.stdout)
    loud = [f"{f['severity']} {f['check']}: {f['message']}" for f in report["findings"] if f["severity"] != "note"]
    if report["verdict"] and not loud:
        loud = [f"verdict {report['verdict']['class']}: {report['verdict']['summary']}"]
    problem = "" if done.returncode == 0 else done.stderr[-300:]
    return Watched(
        name,
        seed,
        done.returncode,
        report["run"]["steps"],
        loud,
        sum(f["severity"] == "note" for f in report["findings"]),
        problem,
    )


def summary(runs: list[Watched]) -> str:
    """The figure of the issue in one sentence."""
    steps = sum(run.steps for run in runs)
    errors = sum(line.startswith("error") for run in runs for line in run.loud)
    loud = sum(len(run.loud) for run in runs)
    rate = 1000 * loud / max(steps, 1)
    notes = 1000 * sum(run.notes for run in runs) / max(steps, 1)
    kinds = len({run.name for run in runs})
    said = f"{loud} errors or warnings ({errors} errors), {rate:.2f} per 1,000 steps; notes {notes:.1f}"
    return f"{len(runs)} healthy but nasty runs of {kinds} programs, {steps} steps: {said}"


def written(runs: list[Watched]) -> None:
    """Keep the dated result and renew the pages that show it."""
    keep("false-alarms", {"summary": summary(runs), "runs": [vars(run) for run in runs]})
    results_page.write()


def main() -> int:
    """Status 1 under --check when a run was not silent or did not end well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep")
    args = parser.parse_args()
    wanted = [name for name in args.only.split(",") if name]
    names = sorted(p.stem for p in PROGRAMS.glob("*.py") if not wanted or p.stem in wanted)
    runs: list[Watched] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for run in pool.map(
            lambda job: watch(*job, args.keep), [(name, seed) for seed in range(args.seeds) for name in names]
        ):
            runs.append(run)
            print(
                f"{run.name:24} seed {run.seed}  {run.steps:5} steps  {len(run.loud)} loud  {run.notes} notes  "
                f"{run.problem}",
                flush=True,
            )
            for line in run.loud:
                print(f"    {line}", flush=True)
    print(summary(runs))
    if not wanted:
        written(runs)
    return int(args.check and any(run.loud or run.status for run in runs))


if __name__ == "__main__":
    sys.exit(main())
