"""The dated results of the scoreboard: rows by group and variant, kept as JSON and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from marks import Row
from truths import NAMES, ROOT

Rows = dict[str, list[Row]]
"""Group -> its rows."""
SCHEMA = "debug-tracer.score/2"
KEPT = ROOT / "benchmarks" / "results"
FULL = "full"
VARIANTS: dict[str, dict[str, str]] = {
    FULL: {},
    "no trials": {"DEBUG_TRACER_TRIALS": "0"},
    "random trials": {"DEBUG_TRACER_TRIAL_ORDER": "random"},
    "cost 1": {"DEBUG_TRACER_COST": "1"},
}
"""The tool as it is, and two baselines: checks and causes alone; trials drawn at random. Then the tool of which nothing
rests to stay under the promised cost."""
BASELINES = ("no trials", "random trials")


def read(path: Path) -> dict[str, Rows]:
    """Variant -> group -> rows; nothing where there is no such file, or one of another format."""
    whole = json.loads(path.read_text()) if path.exists() else {}
    if whole.get("schema") != SCHEMA:
        return {}
    found: dict[str, Rows] = {}
    for entry in whole["rows"]:
        variant, group = entry.pop("variant"), entry.pop("group")
        found.setdefault(variant, {}).setdefault(group, []).append(Row(**entry))
    return found


def merged(old: dict[str, Rows], new: dict[str, Rows]) -> dict[str, Rows]:
    """The old rows, with those of the same script and variant replaced by the new ones."""
    whole: dict[str, Rows] = {}
    for variant in VARIANTS:
        for group in NAMES:
            rows = {row.script: row for source in (old, new) for row in source.get(variant, {}).get(group, [])}
            if rows:
                whole.setdefault(variant, {})[group] = [rows[name] for name in rows]
    return whole


def write(path: Path, variants: dict[str, Rows], about: dict[str, Any], figures: dict[str, Any]) -> None:
    """Everything in one JSON file: what was measured on what, the figures of each line of the board, one row for each
    script."""
    rows = [
        {"variant": variant, "group": group, **row.as_plain()}
        for variant, groups in variants.items()
        for group, part in groups.items()
        for row in part
    ]
    head = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(value)}" for name, value in ({"schema": SCHEMA} | about).items()
    )
    told = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in figures.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "{\n"
        + head
        + ',\n "figures": {\n'
        + told
        + '\n },\n "rows": [\n'
        + ",\n".join(f"  {json.dumps(row)}" for row in rows)
        + "\n ]\n}\n"
    )


def dated(date: str) -> Path:
    """Where the result of a whole run of that day is kept."""
    return KEPT / f"{date}-score.json"


def newest_rows(folder: Path = KEPT) -> dict[str, Rows]:
    """The newest rows of each group and variant, of all days: a day on which only the full tool ran keeps the baselines
    of a day before."""
    whole: dict[str, Rows] = {variant: {} for variant in VARIANTS}
    for path in sorted(folder.glob("*-score.json")):  # the date leads the name, so that names sort by time
        for variant, groups in read(path).items():
            whole[variant].update(groups)
    return {variant: groups for variant, groups in whole.items() if groups}
