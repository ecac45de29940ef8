"""The section of docs/results.md that sets peers beside us on the same programs: what each said of a fault and of the
program without it."""

from __future__ import annotations

from typing import Any

from kept import Kept
from row_tables import row_of
from sections import link

OURS = "debug-tracer"
TOLD = ("right", "half", "as a note", "wrong", "not at all", "did not finish")
HEADS = ("tool", "programs", *TOLD, "line named", "twins with an alarm", "with a loud one", "CPU, attached / bare")


def peers_beside(kept: Kept) -> str:
    """A table with a row for each tool, how it was run, and a table with a row for each program."""
    result = kept.values
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [f"Run {result['date']} ({link(kept)}): {versions}. {result['how']}", ""]
    lines += [row_of(HEADS), "|---" * len(HEADS) + "|"]
    lines += [row_of(of_tool(tool, result)) for tool in result["tools"]]
    lines += ["", *(f"- **{tool}**: {words}" for tool, words in result["run"].items())]
    lines += ["", row_of(["program", "kind", "what is wrong", *result["tools"]])]
    lines += ["|---" * (3 + len(result["tools"])) + "|"]
    lines += [row_of(of_program(program, result)) for program in result["programs"]]
    return "\n".join(lines)


def of_tool(tool: str, result: dict[str, Any]) -> list[str]:
    """How often a tool told a fault and how, named its line, and said something of a healthy twin; what it costs."""
    rows = [row for row in result["rows"] if row["tool"] == tool]
    twins = [row for row in rows if row["alarm_on_twin"] is not None]
    alarms = [f"{sum(row[kind] for row in twins)} of {len(twins)}" for kind in ("alarm_on_twin", "loud_on_twin")]
    counts = [str(sum(row["told"] == word for row in rows)) for word in TOLD]
    lines = str(sum(row["line"] for row in rows))
    cost: float | None = result["cpu_ratio"].get(tool)
    name = f"**{tool}**" if tool == OURS else tool
    return [name, str(len(rows)), *counts, lines, *alarms, f"{cost:.2f}" if cost else "-"]


def of_program(program: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """A program's fault, and what each tool said of it; a dash where it was not run."""
    said = {row["tool"]: row for row in result["rows"] if row["id"] == program["id"]}
    cells = [of_row(said[tool]) if tool in said else "-" for tool in result["tools"]]
    return [f"{program['id']} {program['name']}", program["kind"], program["mechanism"], *cells]


def of_row(row: dict[str, Any]) -> str:
    """How it was told, whether with its line, in what words, and whether the healthy twin was told something too."""
    line = ", line" if row["line"] else ""
    twin = " (an alarm on the twin too)" if row["alarm_on_twin"] else ""
    return f"**{row['told']}{line}**: {row['said']}{twin}"
