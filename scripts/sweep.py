"""Everything that is too long for a commit: all planted faults with their twins, all programs, cases and loops, bit by
bit; a dated result is kept.

    python scripts/sweep.py [--jobs 2] [--only PART,PART]

Each part is a command of its own that starts every program as a user does, from nothing. A part that fails does not end
the others; the status is 1 then. A whole sweep writes benchmarks/results/DATE-sweep.json: commit, machine, and of each
part its status, seconds and last line."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTEST = ["-m", "pytest", "-n", "JOBS", "--dist", "worksteal"]
PARTS = {
    "bitwise": [*PYTEST, "tests/faults/test_bitwise.py"],
    "verdicts": [*PYTEST, "tests/faults/test_verdicts.py"],
    "frameworks": [*PYTEST, "tests/frameworks"],
    "left to the sweep": [
        *PYTEST,
        "-m",
        "sweep",
        "tests/house",
        "tests/responses",
        "tests/faults/test_mutants.py",
        "tests/benchmarks",
        "tests/telemetry",
        "tests/views",
        "tests/commands",
        "tests/exports",
        "tests/server",
        "tests/counts",
    ],
    "programs as they are started": [*PYTEST, "tests/torture", "tests/end_to_end", "tests/integrations"],
    "plants of whole programs": ["scripts/score.py", "--programs", "--check", "--jobs", "JOBS"],
    "states that survive": [*PYTEST, "tests/responses/test_state_survives.py"],
    "cases": ["scripts/score.py", "--cases", "--check", "--jobs", "JOBS"],
    "false alarms": ["scripts/false_alarms.py", "--check", "--jobs", "JOBS"],
    "loops": ["scripts/loops.py", "--jobs", "JOBS"],
}
ALL = {"DEBUG_TRACER_ALL": "1", "DEBUG_TRACER_TESTS_REAL": "1", "OMP_NUM_THREADS": "1", "CI": "true"}


def ran(words: list[str], jobs: int) -> dict[str, Any]:
    """One part, its output shown as it comes; what became of it."""
    command = [sys.executable, *(str(jobs) if word == "JOBS" else word for word in words)]
    start, last = time.monotonic(), ""
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | ALL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return {"status": running.returncode, "seconds": round(time.monotonic() - start), "last": last}


def about() -> dict[str, Any]:
    """What was swept, when and where."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return {"date": datetime.date.today().isoformat(), "commit": commit, "machine": f"CPU, {os.cpu_count()} cores"}


def main() -> int:
    """Status 1 when a part failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--only", default="", help=f"parts, separated by commas: {', '.join(PARTS)}; nothing is written then"
    )
    args = parser.parse_args()
    wanted = [name for name in args.only.split(",") if name]
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    done: dict[str, dict[str, Any]] = {}
    for name in wanted or PARTS:
        print(f"== {name}", flush=True)
        done[name] = ran(PARTS[name], args.jobs)
    for name, part in done.items():
        print(f"{name:32} status {part['status']}  {part['seconds']:5} s  {part['last']}")
    if not wanted:
        result = about()
        (ROOT / "benchmarks" / "results" / f"{result['date']}-sweep.json").write_text(
            json.dumps(result | {"parts": done}, indent=1) + "\n"
        )
    return int(any(part["status"] for part in done.values()))


if __name__ == "__main__":
    sys.exit(main())
