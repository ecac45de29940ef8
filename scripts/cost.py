#!/usr/bin/env python3
"""Rewrites the cost table of README.md from the newest files in benchmarks/results/.

python scripts/cost.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- cost:begin -->", "<!-- cost:end -->"
NAMES = {
    "watched": "**debug-tracer**",
    "set_detect_anomaly": "`torch.autograd.set_detect_anomaly(True)`",
    "DebugUnderflowOverflow": "Hugging Face `DebugUnderflowOverflow`",
}


def newest() -> dict[str, tuple[Path, dict[str, Any]]]:
    """The newest result of each kind of overhead run; dates lead the names, so names sort by time."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for path in sorted(RESULTS.glob("*-overhead-*.json")):
        found[path.stem.split("-overhead-")[1]] = path, json.loads(path.read_text())
    return found


def section(path: Path, result: dict[str, Any]) -> list[str]:
    """One run as a table and a sentence."""
    figures = result["figures"]
    clip = "with" if result.get("clip") else "without"
    what = f"{result['model']}, {result['device']}, {result['threads']} thread(s), {result['clock']} clock, {clip} clipping, torch {result['torch']}"
    lines = [
        f"{what}: bare step {figures['bare']['ms']:.0f} ms ([{path.name}](benchmarks/results/{path.name}))",
        "",
        "| | step time / bare | quartiles |",
        "|---|---|---|",
    ]
    for key, name in NAMES.items():
        if key in figures:
            low, high = figures[key]["quartiles"]
            lines.append(f"| {name} | {figures[key]['ratio']:.3f} | {low:.3f} .. {high:.3f} |")
    incident = figures.get("incident")
    if incident:
        lines += [
            "",
            f"From alarm to verdict {incident['alarm_to_verdict_s']:.2f} s; the traced step takes {incident['traced_slowdown']:.2f} times the replayed one.",
        ]
    return [*lines, ""]


def main() -> int:
    """Write, or with --check say whether it is current."""
    text = README.read_text()
    body = "\n".join(line for path, result in newest().values() for line in section(path, result))
    head, rest = text.split(BEGIN, 1)
    made = f"{head}{BEGIN}\n{body}{END}{rest.split(END, 1)[1]}"
    if "--check" in sys.argv:
        return int(made != text)
    README.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
