"""A verdict, or how a watched run stands, as a small piece of HTML for the output of a notebook cell. One element, no
script, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from pathlib import Path

from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import SYMPTOMS, IncidentFacts
from debugtracer.trace.verdict import Verdict
from debugtracer.views.terminal import pasteable, render_leading, render_verdict
from debugtracer.views.view import Row
from debugtracer.views.words import finding_text, trials, wording

BAD, GOOD = "#d1453b", "#2f9e5b"  # both stand 3:1 and more on white and on the dark grounds of notebooks
MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em"
SHADE = "background:rgba(127,127,127,.14);border-radius:3px"
# a notebook's own style of the element does not show
FLAT = "color:inherit;background:transparent;border-top:0;border-right:0;border-bottom:0"
STYLES = {
    "bold": "font-weight:600",
    "cyan": f"{MONO};{SHADE};padding:1px 6px;display:inline-block",
    "dim": "opacity:.7",
}
"""How a row of text looks, by the style that the terminal gives it. Colours of text are those of the notebook."""


def verdict_card(facts: IncidentFacts, verdict: Verdict, run: Path, incident: Path | None) -> str:
    """Render one incident: what it is, where, which sample, what to do; all else folded away."""
    rows = wording.what(facts, verdict) + wording.where(facts, verdict) + wording.sample(facts, verdict)
    rows += [("note", facts.note, "bold")] if facts.note else []
    whole = render_verdict(facts, verdict, run, incident, width=100)
    return card(wording.title(facts, verdict), rows, to_do(verdict, run, incident), whole)


def leading_card(verdict: Verdict, found: list[Finding], run: Path) -> str:
    """Print a verdict that comes from a finding."""
    return card(
        finding_text.title(verdict),
        finding_text.rows(verdict, found),
        to_do(verdict, run, None),
        render_leading(found, run, [verdict], width=100),
    )


def told_card(verdict: Verdict) -> str:
    """A verdict alone, without the facts of its run."""
    rows: list[Row] = [("what", verdict.summary or "unknown", "bold")]
    if verdict.kind:
        rows.append(("", f"{verdict.kind}, {verdict.status} (confidence {verdict.confidence:.2f})", ""))
    if verdict.file:
        rows.append(("where", wording.at(verdict.file, verdict.line), "bold"))
    if verdict.sample_index:
        rows.append(("sample", f"dataset index {wording.listed(verdict.sample_index)}", "bold"))
    symptom = next(
        (words for name, words in SYMPTOMS.items() if name == verdict.symptom), verdict.symptom.replace("_", " ")
    )
    return card(
        f"debug-tracer: {symptom} at step {verdict.step}, rank {verdict.rank}", rows, to_do(verdict, None, None)
    )


def status_card(title: str, rows: list[Row], good: bool) -> str:
    """How a run stands that has no verdict."""
    return card(title, rows, "", good=good)


def to_do(verdict: Verdict, run: Path | None, incident: Path | None) -> str:
    """The first thing to do, and what the step did with it."""
    edit = trials.change(verdict)
    parts = []
    if edit:
        lines = "".join(
            f'<div style="color:{BAD if line.startswith("-") else GOOD}">{escape(line)}</div>' for line in edit[1:]
        )
        parts.append(
            f"<div>change {escape(edit[0])}</div><div "
            f'style="{MONO};{SHADE};padding:2px 6px;white-space:pre-wrap">{lines}</div>'
        )
    elif verdict.remedy:
        parts.append(
            f"<div>{escape(pasteable(verdict.remedy[0], run, incident) if run is not None else verdict.remedy[0])}</"
            "div>"
        )
    if parts and trials.tested(verdict):
        parts.append(f'<div style="{STYLES["dim"]}">{escape(trials.tested(verdict))}</div>')
    return "".join(parts)


def card(title: str, rows: list[Row], remedy: str = "", whole: str = "", *, good: bool = False) -> str:
    """The element: a title, rows of label and text, what to do, and the whole text to be unfolded."""
    body = "".join(
        row(label, f'<span style="{STYLES.get(style, "")}">{escape(text.strip())}</span>')
        for label, text, style in rows
    )
    body += row("do", remedy) if remedy else ""
    folded = (
        f'<details style="margin-top:6px"><summary style="cursor:pointer;opacity:.7">what was '
        f"seen, what was tried</summary>"
        f'<pre style="{MONO};{FLAT};white-space:pre;overflow-x:auto;margin:6px '
        f'0 0;padding:0">{escape(whole)}</pre></details>'
        if whole
        else ""
    )
    return (
        f'<div style="border-left:4px solid {GOOD if good else BAD};padding:4px 0 4px 12px;margin:4px '
        f'0;line-height:1.45;{FLAT}">'
        f'<div style="font-weight:600;color:{GOOD if good else BAD}">{escape(title)}</div>{body}{folded}</div>'
    )


def row(label: str, inner: str) -> str:
    """A label and what stands beside it, which is HTML already."""
    beside = f'<div style="flex:1;min-width:0;overflow-wrap:anywhere;white-space:pre-wrap">{inner}</div>'
    return (
        f'<div style="display:flex;gap:10px"><div style="flex:0 0 52px;opacity:.7">{escape(label)}</div>{beside}</div>'
    )
