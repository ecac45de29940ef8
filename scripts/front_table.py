"""The table of README.md: one row for each promise, with its number, when it was measured and the command that measures
it again."""

from __future__ import annotations

from statistics import median

import figures as f
from board import at
from kept import Kept, newest
from results import FULL, Rows, newest_rows
from row_tables import row_of
from sections import all_named
from stamp import measured
from truths import HELD_OUT

RIGHT = "told right"
HEAD = ["measured on", "result", "when", "with"]


def table() -> str:
    """The table from the newest kept results."""
    full = newest_rows()[FULL]
    rows = [
        held_out(full),
        rebuilt(newest("cases")),
        fresh(newest("fresh-faults")),
        beside(newest("peers-beside")),
        loops(newest("loops")),
        healthy(newest("false-alarms")),
        cost(newest("programs-long")),
    ]
    return "\n".join([row_of(HEAD), "|---" * len(HEAD) + "|", *(row_of(cells) for cells in rows)])


def held_out(full: Rows) -> list[str]:
    """Faults in programs that nothing was tuned on until 2026-11-27."""
    rows, bad = full[HELD_OUT], f.faulty(full[HELD_OUT])
    programs = len({row.script.partition("/")[0] for row in bad})
    named = ", ".join(
        f"{words} {share(f.marked(bad, mark))}"
        for words, mark in (("found", "found"), ("right class", "top1"), ("guilty line", "line"))
    )
    what = f"{len(bad)} faults planted in {programs} programs, tuned on since 2026-11-27"
    return [what, f"{named}; called confirmed and wrong: {f.confirmed_wrong(rows).right}", at(rows), "`just score`"]


def rebuilt(kept: Kept) -> list[str]:
    """Reconstructions of reported failures; our rules were made with some of them in sight."""
    figures = kept.values["figures"]["Cases, full"]
    named = ", ".join(
        f"{words} {right_of(figures[mark])}"
        for words, mark in (("right class", "top1"), ("guilty line", "line"), ("sample", "sample"))
    )
    bad, quiet = figures["top1"][1], figures["healthy quiet"]
    what = f"{bad} reconstructions of reported failures, {quiet[1]} healthy ones; rules were made with them in view"
    found = f"{named}; called confirmed and wrong: {figures['confirmed but wrong'][0]}; quiet {right_of(quiet)}"
    return [what, found, kept.measured, "`just score`"]


def fresh(kept: Kept) -> list[str]:
    """Faults written by one who had not read the rules."""
    rows = kept.values["rows"]
    named = ", ".join(
        f"{kind}: {sum(row['told'] == RIGHT for row in of)} of {len(of)} told right"
        for kind in ("loud", "spike", "silent")
        if (of := [row for row in rows if row["kind"] == kind])
    )
    named += f"; guilty line {sum(bool(row['line']) for row in rows)} of {len(rows)}"
    named += f"; called confirmed and wrong: {kept.values['confirmed_wrong']}"
    others = sum(row["program"] != "own" for row in rows)
    what = f"{len(rows)} fresh faults, {others} of them in other people's programs"
    return [what, f"{named} ([all](docs/results.md#fresh-faults))", kept.measured, "by hand"]


def beside(kept: Kept) -> list[str]:
    """What other tools said of the same faults."""
    told = {tool: [row["told"] for row in kept.values["rows"] if row["tool"] == tool] for tool in kept.values["tools"]}
    (_, ours), *others = told.items()
    found = ", ".join(f"{tool} {rows.count('right')} of {len(rows)}" for tool, rows in others)
    all_rows = "[all](docs/results.md#peers-on-the-same-programs)"
    return [f"the same {len(ours)}, other tools", f"told right: {found} ({all_rows})", kept.measured, "by hand"]


def loops(kept: Kept) -> list[str]:
    """The four bugs in each kind of loop."""
    rows = kept.values["rows"]
    bugs, kinds = len({row["bug"] for row in rows}), len({row["loop"] for row in rows})
    found = f"op, line, sample and rank named in {all_named(rows)} of {len(rows)}"
    return [f"{bugs} numeric bugs in {kinds} kinds of loop", found, kept.measured, "`python scripts/loops.py`"]


def healthy(kept: Kept) -> list[str]:
    """What was said where nothing is wrong."""
    runs = kept.values["runs"]
    steps, loud, notes = (
        sum(run["steps"] for run in runs),
        sum(len(run["loud"]) for run in runs),
        sum(run["notes"] for run in runs),
    )
    found = f"{loud} false errors or warnings; {1000 * notes / steps:.1f} notes per 1,000 steps"
    return [
        f"{len(runs)} healthy runs that look like trouble",
        found,
        kept.measured,
        "`python scripts/false_alarms.py`",
    ]


def cost(kept: Kept) -> list[str]:
    """CPU time of programs of other people in runs of a minute, at the commit that was measured last."""
    commit, now = list(kept.values["results"].items())[-1]
    rows = [row for row in now["rows"].values() if "error" not in row]
    steady, whole = (sorted(row[name] for row in rows) for name in ("steady_ratio", "whole_ratio"))
    seconds = sorted(row["bare_cpu_s"][-1] for row in rows)
    found = f"steady part: median {median(steady):.2f} times the CPU time of bare, {steady[0]:.2f} to {steady[-1]:.2f}"
    found += f"; whole run: median {median(whole):.2f}, {whole[0]:.2f} to {whole[-1]:.2f}"
    what = f"cost: {len(rows)} of other people's programs, runs of {seconds[0]:.0f} to {seconds[-1]:.0f} s"
    when = measured({(now["date"], commit)})
    return [what, found, when, "`python benchmarks/programs.py --lengths 8,20`"]


def share(rate: f.Rate) -> str:
    """`43 of 57`."""
    return f"{rate.right} of {rate.of}"


def right_of(pair: list[int]) -> str:
    """Format a kept figure: `23 of 36`."""
    return f"{pair[0]} of {pair[1]}"
