"""Reads a report as JSON from stdin and says its verdict in one line; fails where it does not name what was planted.

.venv/bin/debug-tracer report RUN --format json | python scripts/expect.py LINE OP SAMPLE RUN
"""

from __future__ import annotations

import json
import sys


def main(line: str, op: str, sample: str, run: str) -> None:
    """Compare line, operator and sample of the verdict with those planted."""
    verdict = json.load(sys.stdin)["verdict"] or {}
    seen = [verdict.get("line"), verdict.get("op"), verdict.get("sample_index")]
    if seen != [int(line), op, [int(sample)]]:
        sys.exit(f"the verdict names line, op and sample {seen}; expected [{line}, {op}, [{sample}]]. Look at {run}")
    print(f"{verdict['file']}:{line}  {op}  sample {sample}  {verdict['class']}, {verdict['status']}")
    print(f"    {run}")


if __name__ == "__main__":
    main(*sys.argv[1:])
