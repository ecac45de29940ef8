"""Fits the confidence of verdicts: how often a verdict of each status, proved by a trial or not, named the right class
on what may be learnt from.

    python scripts/calibrate.py [benchmarks/results/DATE-score.json]

Writes src/debugtracer/trace/calibration.toml and the rows it was fitted on.

Learnt from: planted faults and development programs. Never from held-out programs or the shared cases, whatever the
file holds."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
import figures as f
from results import FULL, dated, read
from truths import LEARNT, PLANTED, ROOT

from debugtracer.trace.calibration import cell

TABLE = ROOT / "src" / "debugtracer" / "trace" / "calibration.toml"
STATUSES = ("confirmed", "likely", "possible", "unknown")
HEAD = """\
# How often a verdict of this kind named the right class: (right + 1) / (of + 2), Laplace's rule, on planted faults \
and development programs.
# Written by scripts/calibrate.py from the file it names; held-out programs and the shared cases have no part in it. A \
kind never seen is not here.
"""


def learnt(path: Path) -> list[dict[str, Any]]:
    """The verdicts that count, as small as they can be kept: what was said, how sure, and whether it was right."""
    full = read(path).get(FULL, {})
    return [
        {
            "group": group,
            "script": r.script,
            "kind": r.kind,
            "got": r.got,
            "status": r.status,
            "proved": r.proved,
            "right": f.is_right(r),
        }
        for group in (PLANTED, LEARNT)
        for r in f.verdicts(full.get(group, []))
    ]


def cells(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Cell of the table -> right, of; kinds of verdict that were never seen left out."""
    found: dict[str, list[bool]] = {}
    for row in sorted(
        rows, key=lambda row: (STATUSES.index(row["status"]), cell(row["status"], row["proved"], row["got"]))
    ):
        found.setdefault(cell(row["status"], row["proved"], row["got"]), []).append(row["right"])
    return {name: {"right": sum(own), "of": len(own)} for name, own in found.items()}


def laplace(right: int, of: int) -> float:
    """The probability that the next one is right, when nothing was known before; three digits."""
    return round((right + 1) / (of + 2), 3)


def counts(rows: Sequence[dict[str, Any]], name: str) -> str:
    """`planted faults 40 of 40, development programs 7 of 9`: rules are made until the planted are right, so that the
    second number says more."""
    parts = {group: cells([row for row in rows if row["group"] == group]).get(name) for group in (PLANTED, LEARNT)}
    return ", ".join(f"{group.lower()} {cell['right']} of {cell['of']}" for group, cell in parts.items() if cell)


def text(rows: Sequence[dict[str, Any]], results: str) -> str:
    """The table as it is written."""
    lines = [HEAD, f'results = "{results}"\n', "[frequency]"]
    lines += [f"{name} = {laplace(**cell)}  # {counts(rows, name)}" for name, cell in cells(rows).items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Fit and write; status 2 where there is nothing to learn from."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else dated(datetime.date.today().isoformat())
    rows = learnt(source)
    if not rows:
        print(
            f"{source} - no verdict on planted faults or development programs - expected rows of `python "
            "scripts/score.py` - run it first",
            file=sys.stderr,
        )
        return 2
    kept = ROOT / "benchmarks" / "results" / f"{datetime.date.today().isoformat()}-calibration.json"
    kept.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    TABLE.write_text(text(rows, str(kept.relative_to(ROOT))))
    print(f"wrote {TABLE.relative_to(ROOT)} from {len(rows)} verdicts, kept in {kept.relative_to(ROOT)}")
    print(TABLE.read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
