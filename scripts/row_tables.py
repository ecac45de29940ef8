"""Tables of rows and faults in Markdown, and the place in a page where they are put."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import figures as f
from marks import Row
from truths import planted

SHOWN = ("step", "op", "sline", "line", "sample", "rows", "module")
COUNTED = ("found", "top1", "top3", *SHOWN, "noted", "abstained")


def row_of(cells: Sequence[Any]) -> str:
    """One line of a table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def mark(row: Row, name: str) -> str:
    """Yes, no, or a dash where the truth names nothing."""
    return "-" if name not in row.marks else "yes" if row.marks[name] else "**no**"


def table(rows: Sequence[Row]) -> list[str]:
    """One line for each script with a fault."""
    lines = [f"| script | symptom | class | {' | '.join(SHOWN)} | commit |", "|---" * (len(SHOWN) + 4) + "|"]
    for row in sorted(f.faulty(rows), key=lambda r: (r.symptom, r.script)):
        right = "right" if row.marks.get("top1") or row.marks.get("abstained") else str(row.got)
        lines.append(row_of([row.script, row.symptom, right, *(mark(row, name) for name in SHOWN), row.commit]))
    return lines


def layers(rows: Sequence[Row]) -> list[str]:
    """One line for each of the seven layers: how many faults, and how many marks of each kind are right."""
    lines = [f"| layer | faults | {' | '.join(COUNTED)} |", "|---" * (len(COUNTED) + 2) + "|"]
    for layer in sorted({row.layer for row in f.faulty(rows)}):
        own = [row for row in f.faulty(rows) if row.layer == layer]
        lines.append(row_of([layer, len(own), *(f.marked(own, name) for name in COUNTED)]))
    return lines


def summary(rows: Sequence[Row]) -> str:
    """How many marks of each kind are right, in one line."""
    parts = [f"{name} {f.marked(f.faulty(rows), name)}" for name in COUNTED]
    return "; ".join([*parts, f"confirmed but wrong {f.confirmed_wrong(rows)}", f"healthy quiet {f.quiet(rows)}"])


def between(path: Path, name: str, text: str) -> bool:
    """Replace what stands between the marks NAME:begin and NAME:end of a file; False if it has none."""
    try:
        path.write_text(with_section(path.read_text(), name, text))
    except ValueError:
        return False
    return True


def with_section(page: str, name: str, text: str) -> str:
    """The page with this text between its marks NAME:begin and NAME:end. Raises ValueError where it has no such
    marks."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if begin not in page or end not in page:
        raise ValueError(f"no marks {begin} and {end} in the page")
    return page[: page.index(begin) + len(begin)] + "\n" + text + "\n" + page[page.index(end) :]


def catalogue() -> str:
    """The table of faults/README.md: what is planted and what the verdict must say."""
    lines = [
        "| fault | symptom | class | iteration | op | line | sample | what happens |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for script in planted():
        if script.is_healthy:
            continue
        t = script.truth
        samples = ", ".join(map(str, t["sample_index"] or ["-"]))
        lines.append(
            row_of(
                [
                    script.name,
                    t["symptom"],
                    t["class"],
                    t["first_bad_step"],
                    t["op"] or "-",
                    t["line"],
                    samples,
                    t["cause"],
                ]
            )
        )
    return "\n".join(lines)
