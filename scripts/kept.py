"""The newest kept result of each kind: `benchmarks/results/DATE-KIND.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stamp import ROOT, UNKNOWN, measured, stamp

RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Kept:
    """One kept result."""

    path: Path
    values: dict[str, Any]

    @property
    def measured(self) -> str:
        """`2026-11-22 at 551e86f`."""
        return measured({(self.values.get("date", ""), self.values.get("commit", UNKNOWN))})


def newest(kind: str, folder: Path = RESULTS) -> Kept:
    """The newest result of a kind; the date leads the name, so that names sort by time. Raises FileNotFoundError."""
    found = sorted(folder.glob(f"????-??-??-{kind}.json"))
    if not found:
        raise FileNotFoundError(f"{folder}/DATE-{kind}.json - no such result - expected one that was measured")
    return Kept(found[-1], json.loads(found[-1].read_text()))


def newest_of_each(kind: str, folder: Path = RESULTS) -> list[Kept]:
    """The newest result of each kind that begins with these words, by kind."""
    return [
        newest(name, folder)
        for name in sorted({path.stem[len("2026-11-22-") :] for path in folder.glob(f"????-??-??-{kind}-*.json")})
    ]


def keep(kind: str, values: dict[str, Any], folder: Path = RESULTS) -> Path:
    """Write a result of today, with its date and commit at its head; one row of a list stands in one line. Gives its
    path."""
    whole = stamp() | values
    lines = [f" {json.dumps(name)}: {in_lines(value)}" for name, value in whole.items()]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{whole['date']}-{kind}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return path


def in_lines(value: Any) -> str:
    """A list of objects with one object in a line, anything else in one line."""
    if not isinstance(value, list) or not any(isinstance(part, dict) for part in value):
        return json.dumps(value)
    return "[\n" + ",\n".join(f"  {json.dumps(part)}" for part in value) + "\n ]"
