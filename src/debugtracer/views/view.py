"""The contract of a view: a trace in, one document out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.plugins import members
from debugtracer.trace.birth import Birth
from debugtracer.trace.events import Diagnosed, Found, Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import SYMPTOMS
from debugtracer.trace.leading_finding import is_unclassified_crash, ranked
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict

Row = tuple[str, str, str]  # label, text, style
ALARMS = frozenset(SYMPTOMS) - {"crash"}
PROVISIONAL = "is known in"  # in the message of a note that is written before it is known what becomes of it


@dataclass(frozen=True)
class View:
    """Base of all views."""

    word: ClassVar[str]
    """The word of `--format`."""
    extension: ClassVar[str]
    """Of the file that `-o FOLDER` writes."""

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The document. Reads the trace only; color and width matter to a terminal alone."""
        raise NotImplementedError


@functools.cache
def views() -> dict[str, View]:
    """Every view by its `--format` word. The folder is the registry."""
    import debugtracer.views

    return {view.word: view for view in members(debugtracer.views, View).values()}


def incidents(trace: Trace) -> list[Incident]:
    """Return incidents with a verdict over all ranks, the one that explains the run first.

    Earliest iteration first; at the same one a rank where the value was born comes before a rank that only received it.
    """
    told = [event for event in trace.events() if isinstance(event, Incident) and event.verdict is not None]
    return sorted(told, key=lambda e: (e.facts.ref.iteration, not own_birth(e.facts.birth), e.facts.ref.rank))


def own_birth(birth: Birth | None) -> bool:
    """True if the value was born here: in an op of this rank or in its own batch."""
    return birth is not None and (birth.kind != "input" or (birth.input_name or "").startswith(("batch", "input ")))


def diagnosed(trace: Trace) -> list[Verdict]:
    """What trials, and the causes that have read all findings, say; the latest first."""
    return [event.verdict for event in trace.events() if isinstance(event, Diagnosed)][::-1]


def answered(found: list[Finding]) -> list[Finding]:
    """Drop notes that say "known in so many steps" when what became known follows."""
    return [
        one
        for one in found
        if not (one.severity == "note" and PROVISIONAL in one.message and any(settles(other, one) for other in found))
    ]


def further(found: list[Finding], verdict: Verdict | None) -> list[Finding]:
    """What the verdict above does not show: neither the alarm that opened its incident, nor the findings that it comes
    from and shows; without a verdict the exception that ended the program comes first."""
    if verdict is None:
        return sorted(found, key=lambda f: not is_unclassified_crash(f))
    first = None if verdict.symptom in ALARMS else next(iter(ranked(found)), None)
    return [f for f in found if f is not first and f.message not in verdict.evidence and not is_alarm(f, verdict)]


def is_alarm(finding: Finding, verdict: Verdict) -> bool:
    """True for the check of numbers that saw the symptom of this verdict at its step and is no diagnosis."""
    same = (finding.step, finding.rank) == (verdict.step, verdict.rank) and verdict.symptom in ALARMS
    return same and finding.layer == "numerics" and finding.severity == "error" and finding.kind is None


def settles(later: Finding, note: Finding) -> bool:
    """True if the same thing (symptom, step, rank) is reported again, without the question."""
    same = (later.symptom, later.layer, later.step, later.rank) == (note.symptom, note.layer, note.step, note.rank)
    return (
        same
        and PROVISIONAL not in later.message
        and any(slug in later.check for slug in (note.check, "loss-divergence"))
    )


def findings(trace: Trace) -> list[Finding]:
    """Return the findings of all ranks by place in the run, without the questions that others of them answer."""
    found = answered([event.finding for event in trace.events() if isinstance(event, Found)])
    return sorted(found, key=lambda f: (f.iteration, f.rank, f.check))
