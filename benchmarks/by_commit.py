"""Results kept by commit, `{"date", "commit", "results": {commit: {"date", "machine", "rows": {name: row}}}}`: one file
shows what was before and after a change."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from stamp import ROOT, git, stamp

RESULTS = ROOT / "benchmarks" / "results"


def machine() -> str:
    """Processor, cores, Python and torch of this machine."""
    try:
        told = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        told = []
    name = told[0].split(":", 1)[1].strip() if told else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {metadata.version('torch')}"


def measured_commit() -> str:
    """The last commit that changed src/, which is what was measured, `-dirty` where src/ differs from it."""
    known = stamp()["commit"]
    last = git(ROOT, "log", "-1", "--format=%h", "--abbrev=7", "--", "src")
    return known if not last else last.strip() + ("-dirty" if known.endswith("-dirty") else "")


def load(path: Path) -> dict[str, Any]:
    """A kept file; what it must have where there is none yet."""
    return json.loads(path.read_text()) if path.exists() else {"results": {}}


def add_row(kind: str, name: str, row: dict[str, Any], setting: str = "", folder: Path = RESULTS) -> Path:
    """Put one row among those of this commit (and setting) in the file of today, which takes over what the newest file
    holds; each row at once, since a run lasts long and may be cut."""
    now = {"date": stamp()["date"], "commit": measured_commit()}
    path = folder / f"{now['date']}-{kind}.json"
    kept = load(max([*folder.glob(f"????-??-??-{kind}.json")], default=path))
    key = now["commit"] + (f", {setting}" if setting else "")
    rows = kept["results"].get(key, {"rows": {}})["rows"] | {name: row}
    kept["results"][key] = {"date": now["date"], "machine": machine(), "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(now | {"results": kept["results"]}, indent=1) + "\n")
    return path
