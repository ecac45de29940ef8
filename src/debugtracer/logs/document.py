"""What `debug-tracer explain` says of a log: text for a person, JSON for a program."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from rich.text import Text

from debugtracer.logs.command_line import run_command
from debugtracer.logs.facts import LogFacts
from debugtracer.logs.judge import SHOWN, Judged
from debugtracer.logs.trend import place
from debugtracer.trace.counted import counted
from debugtracer.trace.number import number
from debugtracer.trace.verdict import word
from debugtracer.views.terminal import TerminalPage
from debugtracer.views.view import Row
from debugtracer.views.words.wording import path

SCHEMA = "debug-tracer.explain/1"
FROM_TEXT = "from the text alone: nothing was executed again, so nothing is confirmed"


def as_text(facts: LogFacts, judged: Judged, *, color: bool = False, width: int = 80) -> str:
    """The answer, in the style of a verdict; it ends with what to run to be sure."""
    page = TerminalPage(color, width)
    if judged.verdict is None:
        page.console.print(Text(quiet(facts), style="bold"))
        if not facts.empty:
            page.heading("To be sure")
            page.command(
                run_command(facts.command, facts.crash),
                "watches every loss, gradient and update, and says what was wrong",
            )
        return page.text()
    title = (judged.verdict.kind or "no cause stands out").replace("_", " ")
    page.console.print(Text(f"debug-tracer: {title} ({judged.verdict.status}) in {facts.source}", style="bold red"))
    page.console.print(Text("-" * page.width, style="dim"))
    page.rows(what(judged) + where(facts, judged) + since(facts, judged))
    page.heading("Why")
    page.rows(why(judged), label_width=9)
    if len(judged.candidates) > 1:
        page.heading("What else it may be")
        page.rows(others(judged), label_width=6)
    page.heading("What to do")
    page.rows([(f"{place_in}.", text, "") for place_in, text in enumerate(judged.verdict.remedy[:5], 1)], label_width=4)
    page.heading("To be sure")
    page.command(
        run_command(facts.command, facts.crash),
        "stops at the bad step, executes it again and names the operator, the line and the sample",
    )
    return page.text()


def quiet(facts: LogFacts) -> str:
    """Return one sentence for a log without a cause."""
    if facts.empty:
        return f"debug-tracer: {facts.source} is empty; expected the text log of a training run"
    size = counted(facts.lines, "line")
    crash = facts.crash
    if crash is not None:
        at = f" at {path(crash.place.file)}:{crash.place.line}" if crash.place else ""
        return (
            f"debug-tracer: {facts.source} ends in {crash.error}: {crash.message[:200]}{at}; no cause of training "
            f"failures is known for these words ({size})"
        )
    loss = facts.loss
    last = loss.last if loss is not None else None
    numbers = (
        f", {counted(loss.count, 'loss value')} read, the last {last.value:.4g} at {place(last)}"
        if loss is not None and last is not None
        else ", no loss was found in it"
    )
    return f"debug-tracer: nothing in {facts.source} speaks of a fault ({size}{numbers})"


def what(judged: Judged) -> list[Row]:
    """The rows that say what it is and how sure that is."""
    verdict, first = judged.verdict, judged.first
    assert verdict is not None
    assert first is not None
    named = f"{first.kind}, {verdict.status}" if verdict.kind else f"{first.kind} leads, but not by enough"
    rows: list[Row] = [
        ("what", verdict.summary, "bold"),
        ("", f"{named} (confidence {verdict.confidence:.2f}), {FROM_TEXT}", ""),
    ]
    return rows + ([("sample", first.sample, "bold")] if first.sample else [])


def where(facts: LogFacts, judged: Judged) -> list[Row]:
    """The user's line, as far as the log names it; operator and node."""
    first, crash = judged.first, facts.crash
    assert first is not None
    rows: list[Row] = []
    if first.frame is not None:
        inside = f" in {first.frame.function}" if first.frame.function not in ("", "<module>") else ""
        rows.append(("where", f"{path(first.frame.file)}:{first.frame.line}{inside}", "bold"))
        rows += [("", f"    {first.frame.code}", "cyan")] if first.frame.code else []
    shown = crash.place if crash is not None else None
    if (
        shown is not None
        and first.frame is not None
        and (shown.file, shown.line) != (first.frame.file, first.frame.line)
    ):
        rows.append(("", f"it showed at {path(shown.file)}:{shown.line}  {shown.code}".rstrip(), "dim"))
    parts = [
        first.op or "",
        first.phase or "",
        f"ran {facts.anomalies[0].node}" if facts.anomalies and first.phase == "backward" else "",
        f"rank {first.rank}" if first.rank else "",
    ]
    if any(parts):
        rows.append(("" if rows else "where", ", ".join(part for part in parts if part), ""))
    return rows


def since(facts: LogFacts, judged: Judged) -> list[Row]:
    """The first bad number, and the last loss before it."""
    first = judged.first
    assert first is not None
    bad = [(curve.first_bad, name, curve) for name, curve in facts.curves.items() if curve.first_bad is not None]
    if not bad:
        return [("log", f"line {first.line} of {facts.lines}", "")] if first.line else []
    point, name, curve = min(bad, key=lambda one: one[0].line)
    before = " ".join(f"{one.value:.4g}" for one in curve.before_bad[-5:])
    label = name.replace("_", " ")
    return [
        ("since", place(point), "bold"),
        (
            "",
            f"{label} before: {before}; now {number(point.value)}"
            if before
            else f"{label}: {number(point.value)}, the first one",
            "",
        ),
    ]


def why(judged: Judged) -> list[Row]:
    """The rows for and against the first cause."""
    first = judged.first
    assert first is not None
    rows: list[Row] = [("for" if i == 0 else "", text, "") for i, text in enumerate(first.evidence[:4])]
    return rows + [("against" if i == 0 else "", text, "") for i, text in enumerate(first.against[:3])]


def others(judged: Judged) -> list[Row]:
    """The rows of further causes with their strongest sign and what speaks against them."""
    rows: list[Row] = []
    for one in judged.candidates[1 : 1 + SHOWN]:
        against = f"; against it: {one.against[0]}" if one.against else ""
        rows.append((f"{one.certainty:.2f}", f"{one.kind}: {one.evidence[0]}{against}", ""))
    return rows


def as_json(facts: LogFacts, judged: Judged) -> str:
    """Encode one object: the verdict as in the report, every candidate with its reasons, what was read, what to run."""
    verdict: dict[str, Any] | None = msgspec.to_builtins(judged.verdict) if judged.verdict is not None else None
    if verdict is not None:
        for name in ("iteration", "step"):
            verdict[name] = None if verdict[name] < 0 else verdict[name]
        verdict["phase"] = judged.first.phase if judged.first is not None else None
    told = {
        "schema": SCHEMA,
        "log": {
            "source": facts.source,
            "lines": facts.lines,
            "command": facts.command or None,
            "values": {name: curve.count for name, curve in facts.curves.items()},
        },
        "verdict": verdict,
        "candidates": [
            {
                "class": one.kind,
                "confidence": round(one.certainty, 2),
                "status": word(one.certainty),
                "for": one.evidence,
                "against": one.against,
                "log_line": one.line or None,
            }
            for one in judged.candidates
        ],
        "next": None if facts.empty else run_command(facts.command, facts.crash),
    }
    return json.dumps(told, indent=1, allow_nan=False) + "\n"
