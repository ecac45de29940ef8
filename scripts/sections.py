"""Sections of docs/results.md beside the scoreboard, each made of one kind of kept result."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kept import Kept
from responses_seen import MODES, table
from row_tables import row_of

ALL_NAMED = ("op", "line", "sample", "rank")
WAYS = {
    "watched": "**debug-tracer**",
    "set_detect_anomaly": "`torch.autograd.set_detect_anomaly(True)`",
    "DebugUnderflowOverflow": "Hugging Face `DebugUnderflowOverflow`",
}


def loops(kept: Kept) -> str:
    """The four bugs in each kind of loop: what the verdict named, its class and its status."""
    rows = kept.values["rows"]
    bugs = list(dict.fromkeys(row["bug"] for row in rows))
    cells = {(row["loop"], row["bug"]): cell(row) for row in rows}
    lines = [f"Measured {kept.measured} (CPU, gloo, mode dev): what is named rightly, the class, how sure.", ""]
    lines += [row_of(["loop", *bugs]), "|---" * (len(bugs) + 1) + "|"]
    lines += [
        row_of([title, *(cells.get((loop, bug), "-") for bug in bugs)])
        for loop, title in {row["loop"]: row["title"] for row in rows}.items()
    ]
    return "\n".join(lines)


def cell(row: dict[str, Any]) -> str:
    """`op, line, sample, rank; log_domain, confirmed`."""
    right = [name for name in ALL_NAMED if row["marks"][name]]
    named = ", ".join(right) if len(right) == len(ALL_NAMED) else f"{', '.join(right) or 'nothing'} only"
    return f"{named}; {row['class']}, {row['status']}"


def all_named(rows: list[dict[str, Any]]) -> int:
    """In how many rows op, line, sample and rank are all right."""
    return sum(all(row["marks"][name] for name in ALL_NAMED) for row in rows)


def false_alarms(kept: Kept) -> str:
    """What was said of healthy programs, in one sentence."""
    return f"Measured {kept.measured}: {kept.values['summary']}."


SEEN = {"en": ("answer", "close looks in 450 healthy steps"), "zh": ("应对", "450 个健康步中的细看次数")}
COST = {
    "en": ("model", "parameters", "step, ms", "snapshot, ms", "steps between", "share", "held", "off because"),
    "zh": ("模型", "参数", "每步毫秒", "快照毫秒", "间隔步数", "占比", "内存", "关闭的原因"),
}
NAMED = {"en": ("", ""), "zh": ("应对 ", "模型 ")}
"""What stands before the name in a row: a row of a translated page says something in its language."""


def responses(kept: Kept, language: str) -> str:
    """In which mode which answer was seen, on which script."""
    first, looks = SEEN[language]
    rows = [
        [looks if row[0] == "close looks" else f"{NAMED[language][0]}`{row[0]}`", *row[1:]]
        for row in table(kept.values)
    ]
    lines = [f"{NAMED[language][0]}`python scripts/responses_seen.py`, {kept.measured}:", ""]
    lines += [row_of([first, *MODES]), "|---" * (len(MODES) + 1) + "|"]
    return "\n".join([*lines, *map(row_of, rows)])


def snapshots(kept: Kept, language: str) -> str:
    """What the snapshot ring costs by the size of a model."""
    heads = COST[language]
    lines = [
        f"{NAMED[language][1]}`python benchmarks/snapshots.py`, {kept.measured}:",
        "",
        row_of(heads),
        "|---" * len(heads) + "|",
    ]
    for row in kept.values["rows"]:
        share = row["snapshot_ms"] / row["every"] / row["step_ms"]
        cells = [
            NAMED[language][1] + row["model"],
            f"{row['parameters']:,}",
            f"{row['step_ms']:.2f}",
            f"{row['snapshot_ms']:.2f}",
        ]
        cells += [str(row["every"]), f"{share:.2%}", f"{row['bytes'] / 1e6:.1f} MB", row["off"] or "-"]
        lines.append(row_of(cells))
    return "\n".join(lines)


def overhead(found: list[Kept]) -> str:
    """Step time beside bare training and the peers, a table for each model, device and clock."""
    return "\n\n".join("\n".join(overhead_of(kept)) for kept in found)


def overhead_of(kept: Kept) -> list[str]:
    """One run as a table and a sentence."""
    result, figures = kept.values, kept.values["figures"]
    clip = "with" if result.get("clip") else "without"
    what = (
        f"{result['model']}, {result['device']}, {result['threads']} thread(s), {result['clock']} clock, {clip} "
        f"clipping, torch {result['torch']}"
    )
    lines = [f"{what}: bare step {figures['bare']['ms']:.0f} ms. Measured {kept.measured} ({link(kept)}).", ""]
    lines += ["| | step time / bare | quartiles |", "|---|---|---|"]
    for key, name in WAYS.items():
        if key in figures:
            low, high = figures[key]["quartiles"]
            lines.append(f"| {name} | {figures[key]['ratio']:.3f} | {low:.3f} .. {high:.3f} |")
    incident = figures.get("incident")
    if incident:
        took = (
            f"From alarm to verdict {incident['alarm_to_verdict_s']:.2f} s; the traced step takes "
            f"{incident['traced_slowdown']:.2f} times the replayed one."
        )
        lines += ["", took]
    return lines


def judging(kept: Kept) -> str:
    """What the checks cost, in one sentence."""
    result = kept.values
    times = (
        f"{result['offline_us_per_step']:.0f} us of CPU a step offline, {result['live_us_per_step']:.0f} us live, in a "
        "thread of its own beside the training"
    )
    return f"Measured {kept.measured}: judging with {result['checks']} checks takes {times} ({link(kept)})."


def other_programs(kept: Kept) -> str:
    """Programs of other people: what watching them costs, and how the faults put into them were told."""
    result = kept.values
    lines = [f"Measured {kept.measured} ({link(kept)}). {result['how']}", ""]
    lines += [
        "| program | CPU time, watched / bare (without start-up) |",
        "|---|---|",
        *(f"| {row['program']} | {row['cpu_ratio']} |" for row in result["cost"]),
    ]
    lines += ["", "| step of | bare, ms | watched, ms |", "|---|---|---|"]
    lines += [f"| {row['model']} | {row['bare_ms']} | {row['watched_ms']} |" for row in result["steps"]]
    told = ", ".join(f"{word} {count}" for word, count in result["told"].items())
    loud = ", ".join(f"{word} {right} of {of}" for word, (right, of) in result["loud"].items())
    right, of = result["line"]
    lines += ["", f"Faults put into programs of other people: {sum(result['told'].values())}; {told}."]
    lines += [
        "",
        (
            f"A NaN or Inf in programs that the rules had not seen: {loud}. The guilty line, over all programs: "
            f"{right} of {of}."
        ),
    ]
    return "\n".join(lines)


def fresh_faults(kept: Kept) -> str:
    """Faults that nobody who wrote a rule has seen, as they were told; and what was said of healthy programs."""
    result = kept.values
    rows = result["rows"]
    told = ", ".join(f"{word} {count}" for word, count in Counter(row["told"] for row in rows).most_common())
    lines = [f"Measured {kept.measured} ({link(kept)}). {result['how']}", ""]
    lines += [
        f"Of {len(rows)}: {told}. The line to edit: {of_known(rows, 'line')}; the sample: {of_known(rows, 'sample')}."
    ]
    if result.get("later"):
        lines += ["", result["later"]]
    lines += ["", "| program | loop | kind | what is wrong | what was said | told | line |", "|---" * 7 + "|"]
    yes_or_no = {True: "yes", False: "no", None: "-"}
    for row in rows:
        cells = (row["program"], row["loop"], row["kind"], row["mechanism"], row["said"], row["told"])
        lines.append(f"| {' | '.join(cells)} | {yes_or_no[row['line']]} |")
    lines += ["", quiet("Healthy programs of other people", result["healthy"])]
    lines += ["", quiet("The programs above without their faults", result["twins"])]
    return "\n".join(lines)


def quiet(words: str, runs: list[dict[str, Any]]) -> str:
    """What was said of programs without a fault, in one sentence; `not run` where there are none."""
    if not runs:
        return f"{words}: not run."
    steps, notes = sum(run["steps"] for run in runs), sum(run["notes"] for run in runs)
    loud = [check for run in runs for check in run["loud"]]
    named = f" ({', '.join(loud)})" if loud else ""
    count = f"{len(loud)} errors and warnings{named}"
    return f"{words}: {len(runs)}, {steps} steps; {count}, {1000 * notes / steps:.1f} notes per 1,000 steps."


def of_known(rows: list[dict[str, Any]], mark: str) -> str:
    """How often a mark is right among the rows whose truth names one."""
    known = [row[mark] for row in rows if row[mark] is not None]
    return f"{sum(known)} of {len(known)}"


def link(kept: Kept) -> str:
    """A link to the kept file, from docs/."""
    return f"[{kept.path.name}](../benchmarks/results/{kept.path.name})"


def traincheck(kept: Kept) -> str:
    """TrainCheck's published bugs as ported: what was said at first and after tuning, and the cost beside theirs."""
    result = kept.values
    lines = [f"Measured {kept.measured} ({link(kept)}). {result['how']}", ""]
    for when, words in (("first", "At first, before any rule was written for them"), ("now", "Now")):
        said = [row[when] for row in result["rows"]]
        told = ", ".join(f"{word} {n}" for word, n in Counter(one["told"] for one in said).most_common())
        lines.append(
            f"{words}: of {len(said)} {told}; the line {of_known(said, 'line')}; quiet without the fault "
            f"{of_known(said, 'quiet')}."
        )
    lines += ["", "| bug | what is wrong | at first | now | line now |", "|---" * 5 + "|"]
    for row in result["rows"]:
        line = "yes" if row["now"]["line"] else "no"
        lines.append(row_of([row["bug"], row["what"], of_told(row["first"]), of_told(row["now"]), line]))
    lines += ["", "Not ported: " + "; ".join(f"{one['bug']} ({one['why']})" for one in result["left_out"]) + "."]
    cost = result["cost"]
    lines += ["", cost["how"], "", "| whose | program | watched / bare |", "|---|---|---|"]
    lines += [row_of(["TrainCheck", name, f"{ratio:.2f}"]) for name, ratio in cost["traincheck"].items()]
    lines += [row_of(["debug-tracer", name, f"{ratio:.2f}"]) for name, ratio in cost["ours"].items()]
    return "\n".join(lines)


def of_told(said: dict[str, Any]) -> str:
    """How a program was told, with the class where one was said."""
    return said["told"] + (f" (`{said['class']}`)" if said["class"] else "")
