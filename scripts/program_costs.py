"""The tables of docs/cost.md: programs of other people bare and watched, from the newest kept results of
benchmarks/programs.py with long runs, and at rest, from that of benchmarks/programs_at_rest.py."""

from __future__ import annotations

from typing import Any

from kept import Kept
from row_tables import row_of

HEADS = {
    "en": ("program", "bare, s", "steady", "whole run", "told", "true", "output"),
    "zh": ("程序", "不监视的秒数", "稳态", "整个运行", "所报占比", "实际占比", "输出"),
}
REST_HEADS = {
    "en": ("program", "bare step, ms", "watched", "interval of the median", "floor"),
    "zh": ("程序", "不监视的一步, 毫秒", "监视", "中位数的区间", "下限"),
}
SAME = {"en": "same, {} lines", "zh": "相同 {} 行"}
OTHER = {"en": "**other**", "zh": "**不同**"}
SPAN = {"en": "{:.0f} to {:.0f}", "zh": "{:.0f} 到 {:.0f}"}
REST_SPAN = {"en": "{:.3f} to {:.3f}", "zh": "{:.3f} 到 {:.3f}"}
NAMED = {"en": "", "zh": "程序 "}
"""What stands before the name: a row of a translated page says something in its language."""


def programs(kept: Kept, language: str) -> str:
    """The rows of the commit that was measured last, the cheapest first."""
    return table(list(kept.values["results"].values())[-1]["rows"], language)


def minutes(kept: Kept, language: str) -> str:
    """The newest row of each program, whatever the commit, the cheapest first."""
    rows: dict[str, Any] = {}
    for result in kept.values["results"].values():
        rows |= result["rows"]
    return table(rows, language)


def at_rest(kept: Kept, language: str) -> str:
    """The newest row of each program, the cheapest first."""
    rows: dict[str, Any] = {}
    for result in kept.values["results"].values():
        rows |= {name: row for name, row in result["rows"].items() if "error" not in row}
    lines = [row_of(REST_HEADS[language]), "|---" * len(REST_HEADS[language]) + "|"]
    for _, name, row in sorted((row["watched"]["ratio"], name, row) for name, row in rows.items()):
        span = REST_SPAN[language].format(*row["watched"]["interval"])
        floor = f"{row['floor']['ratio']:.3f}" if row["floor"] else "-"
        ms = f"{row['bare_us'] / 1e3:.3g}"
        lines.append(row_of([NAMED[language] + name, ms, f"{row['watched']['ratio']:.3f}", span, floor]))
    return "\n".join(lines)


def table(rows: dict[str, Any], language: str) -> str:
    """The rows that were measured, by their steady part."""
    done = sorted((row["steady_ratio"], name, row) for name, row in rows.items() if "error" not in row)
    lines = [row_of(HEADS[language]), "|---" * len(HEADS[language]) + "|"]
    return "\n".join([*lines, *(row_of(cells(name, row, language)) for _, name, row in done)])


def cells(name: str, row: dict[str, Any], language: str) -> list[str]:
    """One program: seconds of the two lengths, ratios, shares and whether it printed the same."""
    bare_s, watched_s = row["bare_cpu_s"], row["watched_cpu_s"]
    told = "-" if row["told"] is None else f"{row['told']:.0%}"
    output = SAME[language].format(row["lines"]) if row["same_output"] else OTHER[language]
    true = f"{(watched_s[-1] - bare_s[-1]) / watched_s[-1]:.0%}"
    ratios = [f"{row['steady_ratio']:.2f}", f"{row['whole_ratio']:.2f}"]
    return [NAMED[language] + name, SPAN[language].format(bare_s[0], bare_s[-1]), *ratios, told, true, output]
