"""The tables of the scoreboard, for docs/results.md and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import figures as f
from marks import Row
from results import FULL, Rows
from row_tables import COUNTED, layers, row_of, summary, table
from stamp import measured
from truths import LEARNT, NAMES, PLANTED

FIRST = ("found", "top1", "top3", "step", "op", "line", "sample")
ARTICLE = {"top1": "86.3 %", "seconds": "47 s"}
"""What an article claims of its own tool; nobody can check it (docs/rationale/checks.md#article-thresholds)."""
MAJORITY = "majority class"


def figures(variants: dict[str, Rows]) -> dict[str, Any]:
    """The figures of every line as plain values, for the results."""
    return {
        f"{group}, {variant}": of_line(rows) for variant, groups in variants.items() for group, rows in groups.items()
    }


def of_line(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of one line of the board."""
    times, tried, parts = f.seconds(rows), f.trials(rows), f.bins(rows)
    rates = {name: f.marked(f.faulty(rows), name) for name in COUNTED}
    more = {
        "confirmed but wrong": f.confirmed_wrong(rows),
        "healthy quiet": f.quiet(rows),
        "confirmed": f.confirmed(rows),
        "tested": f.tested(rows),
        "right when sure": f.spoken(rows),
    }
    error = f.calibration_error(parts)
    return {
        **{name: [rate.right, rate.of] for name, rate in (rates | more).items() if rate.of},
        "seconds to verdict": {"verdicts": len(times)}
        | {word: f.quantile(times, at) for word, at in (("median", 0.5), ("p90", 0.9), ("max", 1.0))},
        "trials": {
            "verdicts": len(tried),
            "mean": round(sum(tried) / len(tried), 2) if tried else None,
            "max": max(tried, default=None),
        },
        "calibration error": None if error is None else round(error, 4),
        "bins": [[part.low, part.rows, round(part.confidence, 3), round(part.right, 3)] for part in parts],
    }


def board(variants: dict[str, Rows]) -> str:
    """The section of docs/results.md: what was found, how good the verdicts are, then group by group."""
    lines = overview(variants)
    for title, rows in variants.get(FULL, {}).items():
        lines += ["", *group(title, rows)]
    return "\n".join(lines)


def overview(variants: dict[str, Rows]) -> list[str]:
    """What was found, how good the verdicts are, what their confidence is worth: a line for each group and each
    baseline."""
    return [*found(variants), "", *reached(variants), "", *calibration(variants.get(FULL, {}))]


def found(variants: dict[str, Rows]) -> list[str]:
    """One line for each group and each baseline: marks in percent of their number."""
    lines = [
        f"| scripts | faults | {' | '.join(FIRST)} | confirmed but wrong | healthy quiet | measured |",
        "|---" * (len(FIRST) + 5) + "|",
    ]
    for title, variant, rows in each(variants):
        bad = f.faulty(rows)
        cells = [
            said(title, variant),
            len(bad),
            *(f.marked(bad, name) for name in FIRST),
            f.confirmed_wrong(rows).right,
            f.quiet(rows),
            at(rows),
        ]
        lines.append(row_of(cells))
    return lines + guesses(variants.get(FULL, {}))


def guesses(full: Rows) -> list[str]:
    """The baseline that looks at nothing: the commonest classes of the development programs, said of everything."""
    common = f.majority(full.get(LEARNT, []))
    lines = []
    for title, rows in full.items() if common else ():
        top1, top3 = f.guessed(rows, common, 1), f.guessed(rows, common, 3)
        lines.append(
            row_of(
                [
                    said(title, f"{MAJORITY} `{common[0]}`"),
                    len(f.faulty(rows)),
                    "-",
                    top1,
                    top3,
                    *"-" * (len(FIRST) - 1),
                    "counted, not run",
                ]
            )
        )
    return lines


def reached(variants: dict[str, Rows]) -> list[str]:
    """One line for each group and each baseline: how good, how fast and how sure the verdicts are."""
    head = [
        "verdicts",
        "top1",
        "seconds to verdict: median / p90 / max (n)",
        "trials: mean / max (n)",
        "confirmed",
        "fix tested",
        "right when sure",
    ]
    head += ["outside the catalogue: abstained", "calibration error", "measured"]
    lines = [row_of(head), "|---" * len(head) + "|"]
    lines.append(row_of(["first article, its own claim", ARTICLE["top1"], ARTICLE["seconds"], *"-" * 7]))
    lines.append(
        row_of(["goal", ">= 90 %", "< 10 (step of up to 1 s)", "<= 8", "-", "-", ">= 95 %", ">= 80 %", "<= 0.10", "-"])
    )
    for title, variant, rows in each(variants):
        bad, error = f.faulty(rows), f.calibration_error(f.bins(rows))
        rates = [f.confirmed(rows), f.tested(rows), f.spoken(rows), f.marked(bad, "abstained")]
        times, tried = timed(f.seconds(rows)), counted(f.trials(rows))
        cells = [
            said(title, variant),
            f.marked(bad, "top1").percent,
            times,
            tried,
            *(share(rate) for rate in rates),
            "-" if error is None else f"{error:.3f}",
            at(rows),
        ]
        lines.append(row_of(cells))
    return lines


def each(variants: dict[str, Rows]) -> list[tuple[str, str, list[Row]]]:
    """Group, variant and rows, group by group."""
    return [
        (group, variant, groups[group]) for group in NAMES for variant, groups in variants.items() if group in groups
    ]


def said(title: str, variant: str) -> str:
    """The name of a line: a baseline stands under its group."""
    return (
        NAMES[title].partition(" (")[0]
        if variant == FULL
        else f"- {NAMES[title].partition(' (')[0].lower()}, {variant}"
    )


def at(rows: Sequence[Row]) -> str:
    """`2026-11-22 at 551e86f`: when the rows were measured, and with which code."""
    return measured({(row.date, row.commit) for row in rows})


def share(rate: f.Rate) -> str:
    """`88.9 % (8/9)`."""
    return f"{rate.percent} ({rate})" if rate.of else "-"


def timed(times: Sequence[float]) -> str:
    """`0.4 / 2.1 / 5.0 (12)`."""
    return " / ".join(f"{f.quantile(times, at):.1f}" for at in (0.5, 0.9, 1.0)) + f" ({len(times)})" if times else "-"


def counted(numbers: Sequence[int]) -> str:
    """`3.5 / 8 (12)`."""
    return f"{sum(numbers) / len(numbers):.1f} / {max(numbers)} ({len(numbers)})" if numbers else "-"


def calibration(full: Rows) -> list[str]:
    """Ten bins of confidence: how sure the verdicts were and how often right, for every group."""
    lines = [
        "| confidence | " + " | ".join(NAMES[group].partition(" (")[0] for group in full) + " |",
        "|---" * (len(full) + 1) + "|",
    ]
    parts = {group: {part.low: part for part in f.bins(rows)} for group, rows in full.items()}
    for low in sorted({low for bins in parts.values() for low in bins}):
        cells = [sure(bins[low]) if low in bins else "-" for bins in parts.values()]
        lines.append(row_of([f"{low:.1f} to {low + 0.1:.1f}", *cells]))
    return ["Confidence said, and the share of those verdicts that was right (number of verdicts):", "", *lines]


def sure(part: f.Bin) -> str:
    """`0.94 said, 0.98 right (57)`."""
    return f"{part.confidence:.2f} said, {part.right:.2f} right ({part.rows})"


def group(title: str, rows: list[Row]) -> list[str]:
    """One group: its marks in one line, by layer, case by case where they are few."""
    healthy, loud = (
        [row for row in rows if row.is_healthy],
        [row.script for row in rows if row.is_healthy and not row.marks["quiet"]],
    )
    each_case = (
        ["", "<details><summary>case by case</summary>", "", *table(rows), "", "</details>"] if title != PLANTED else []
    )
    loudly = f"; not: {', '.join(loud)}" if loud else ""
    silent = f"Healthy: {len(healthy) - len(loud)} of {len(healthy)} silent{loudly}."
    return [f"**{NAMES[title]}**: {summary(rows)}. Measured {at(rows)}.", "", *layers(rows), *each_case, "", silent]
