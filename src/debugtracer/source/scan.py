"""The scan: every Python file below a path, every pattern, the hits by place."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from debugtracer.errors import UsageError
from debugtracer.source.pattern import Hit, patterns
from debugtracer.source.program import BIG_BYTES, parse
from debugtracer.source.source import Source
from debugtracer.trace.counted import counted
from debugtracer.trace.finding import grave, least_severity

SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env"})


@dataclass(frozen=True)
class Scan:
    """What was read and found."""

    files: int
    lines: int
    unread: list[str]
    """Files that are no Python this Python reads."""
    hits: list[Hit]


def scan(path: Path) -> Scan:
    """A file, or every *.py below a folder. Raises UsageError if there is none."""
    if not path.exists():
        raise UsageError(f"--source {path}: there is no such file or folder")
    if path.is_file() and path.suffix != ".py":
        raise UsageError(f"--source {path}: expected a .py file or a folder of them")
    count = lines = 0
    unread: list[str] = []
    hits: list[Hit] = []
    for file in files(path):
        try:
            data = file.read_bytes()
        except OSError:
            unread.append(str(file))
            continue
        found = of_text(file, data)
        if found is None:
            unread.append(str(file))
            continue
        count, lines = count + 1, lines + data.count(b"\n")
        hits += found
    if not count and not unread:
        raise UsageError(f"--source {path}: no .py file below it")
    if path.is_file() and unread:
        raise UsageError(
            f"--source {path}: no Python that {sys.version_info.major}.{sys.version_info.minor} understands; nothing "
            "was read"
        )
    return Scan(count, lines, unread, hits)


def fails(found: Scan, fail_on: str) -> bool:
    """True if a hit is at least as severe as `--fail-on` says. Raises UsageError."""
    limit = least_severity(fail_on)  # no pattern is an error; the word is allowed, as in report --fail-on
    return limit is not None and any(grave(hit.severity) >= limit for hit in found.hits)


def report(found: Scan) -> str:
    """A line a hit, its pattern behind it, and one line of counts."""
    lines = [f"{hit.message} [{hit.pattern}, {hit.severity}]" for hit in found.hits]
    lines += [
        f"{name} - not read: no Python that {sys.version_info.major}.{sys.version_info.minor} understands"
        for name in found.unread
    ]
    counts = ", ".join(
        counted(sum(hit.severity == severity for hit in found.hits), severity) for severity in ("warning", "note")
    )
    return "\n".join([*lines, f"{counts} in {counted(found.files, 'file')}, {counted(found.lines, 'line')}"]) + "\n"


def files(path: Path) -> Iterator[Path]:
    """The Python files, in order; hidden folders, environments and builds are left out."""
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        yield from (Path(folder) / name for name in sorted(names) if name.endswith(".py"))


def of_text(file: Path, data: bytes) -> list[Hit] | None:
    """The hits of one file by line; None if it cannot be parsed."""
    program = parse(file, data) if len(data) <= BIG_BYTES else None
    if program is None:
        return None
    try:
        source = Source(program)
        found = [
            hit
            for pattern in patterns().values()
            if source.names.torch or not pattern.needs_torch
            for hit in pattern.find(source)
        ]
    except RecursionError:  # an expression of thousands of terms: generated, not written
        return None
    return sorted(dict.fromkeys(found), key=lambda hit: (hit.line, hit.pattern))
