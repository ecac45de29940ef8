"""The contract of a cause: what speaks for and against it in the facts of an incident or in the findings of the checks,
and what to do about it."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.rewrite.change import proposed
from debugtracer.errors import DebugTracerError, swallow
from debugtracer.plugins import joined, members, members_from, members_installed, named, slug_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding, Layer
from debugtracer.trace.leading_finding import certainty
from debugtracer.trace.place import Place
from debugtracer.trace.verdict import Change

ROOM = "debugtracer.causes"  # also the group of entry points
FOLDER = "DEBUG_TRACER_CAUSES"
CAUTIOUS = 0.95  # a guess never sounds like a proof: the ceiling of what is not exact (ours)

# names in plug-ins written before
FORMER = {"signs": "evidence_from_incident", "heard": "evidence_from_findings", "hears": "uses_findings"}

Edit = Literal["operator", "optimizer", "data"]


@dataclass(frozen=True)
class Evidence:
    """What the facts say about one cause."""

    confidence: float
    """0..1; from 0.7 on it is likely, from 0.4 on possible."""
    because: str
    """One clause with the numbers seen: `every score of the row is -inf, so softmax divides 0 by 0`. Of findings: the
    whole message of the leading one."""
    remedies: tuple[str, ...]
    """What to do, best first, one line each."""
    against: tuple[str, ...] = ()
    """What speaks against it."""
    exact: bool = False
    """An invariant was broken: nothing else can explain it, no trial is needed."""
    seen: bool = False
    """The op was seen to get what it is not defined for: a trial can refute the remedy, not the class."""
    whole_batch: bool = False
    """Every row of the batch is guilty, not a few."""
    evidence: tuple[str, ...] = ()
    """What speaks for it, strongest first."""
    place: Place | None = None
    """Where it lies, when that is not where the bad value was born: a stored tensor."""
    leading: Finding | None = None
    """Of findings: the one that says it, for its place in the run and in the code."""


Signs = Evidence  # its former name, in plug-ins written before


@dataclass(frozen=True)
class Cause:
    """Base of all causes. A rule must be true of PyTorch, never of one script; its slug is its file name."""

    def __init_subclass__(cls) -> None:
        """Map the former names of members, for plug-ins written before they were renamed."""
        for former, name in FORMER.items():
            if former in cls.__dict__ and name not in cls.__dict__:
                setattr(cls, name, cls.__dict__[former])

    kind: ClassVar[str]
    """Class of the verdict: the word of the taxonomy (written as `class`)."""
    layer: ClassVar[Layer] = "numerics"
    edit: ClassVar[Edit] = "operator"
    """Whose line a person edits: the operator's, the optimizer's constructor, or where the data is made."""

    fallback: ClassVar[bool] = False
    """True if it only names the arithmetic; never shown beside a cause that knows why."""
    proved_by: ClassVar[tuple[str, ...]] = ()
    """Interventions (slugs) that heal the step if this is the cause, the narrowest first: `stable-op`,
    `without-sample`."""
    proved_by_training: ClassVar[tuple[str, ...]] = ()
    """Interventions with which a loss that does not fall as it should falls within some dozen steps, the narrowest
    first: `without-decay`."""
    refuted_by: ClassVar[tuple[str, ...]] = ()
    """Interventions that must not heal it; one that does speaks against this cause."""
    supports: ClassVar[tuple[str, ...]] = ()
    """Checks (`layer/slug`) whose loud finding speaks for it."""
    contradicts: ClassVar[tuple[str, ...]] = ()
    """Checks whose loud finding speaks against it."""
    remedies: ClassVar[tuple[str, ...]] = ()
    """What to do, best first, where the leading finding does not say it."""
    rewrites: ClassVar[tuple[str, ...]] = ()
    """Edits of the user's line (rewrite/rewritten.py) that are its remedy, the best first."""
    pipeline_kinds: ClassVar[tuple[str, ...]] = ()
    """What a line of the data pipeline did (trace/pipeline_birth.py) that is this cause."""
    uses_findings: ClassVar[bool] = True
    """False for one that speaks of non-finite values only, where another cause of the same class uses what the checks
    found."""

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """What the facts of an incident say; None if this is not the cause. Pure: no IO, no torch, no host sync."""
        return None

    def evidence_from_findings(self, findings: FindingEvidence) -> Evidence | None:
        """What the findings of the checks say where nothing became non-finite; None if this is not the cause. Pure.

        The loud findings of this class are its evidence, the best of them leads. Each other family of findings that
        supports it adds one bit, each that contradicts it takes two (docs/rationale/inference.md#likelihoods);
        the family of the leading one adds nothing a second time (docs/rationale/inference.md#families).
        """
        said = findings.of(self.kind) if self.uses_findings else []
        if not said:
            return None
        best, further = said[0], findings.by(*self.supports)
        against = findings.by(*self.contradicts)
        bits = len(findings.families(*said, *further) - findings.families(best)) - 2 * len(findings.families(*against))
        return Evidence(
            confidence=certainty(best)
            if best.exact
            else min(weighed(best.confidence, bits), max(CAUTIOUS, best.confidence)),
            because=best.message,
            remedies=best.remedy or self.remedies,
            against=messages(against),
            exact=best.exact,
            evidence=messages([*said, *further]),
            leading=best,
        )

    def change(
        self, evidence: IncidentEvidence | FindingEvidence, frame: Frame, value: float | None = None
    ) -> Change | None:
        """The remedy as a change of that line of the user's; None where the line is not understood or the remedy is no
        line.

        `value` is that of the trial that healed (eps, distance from an edge, what the rate is divided by); None takes
        one that the dtype can hold. Reads the user's file where the line alone does not name the optimizer.
        """
        return proposed(self.rewrites, evidence, frame, value)

    @property
    def slug(self) -> str:
        """The file name with dashes; of one that users bring the name of its class."""
        module = type(self).__module__
        return slug_of(module, ROOM) if module.startswith(ROOM + ".") else named(type(self))


def weighed(confidence: float, bits: int) -> float:
    """A confidence after that many bits of evidence: one bit doubles the odds."""
    odds = confidence * 2.0**bits
    return odds / (odds + 1 - confidence)


def messages(findings: list[Finding]) -> tuple[str, ...]:
    """What they say, each once."""
    return tuple(dict.fromkeys(finding.message for finding in findings))


@functools.cache
def causes() -> dict[str, Cause]:
    """Every cause by slug: the folder is the registry, then the user's folder DEBUG_TRACER_CAUSES and what installed
    packages offer."""
    import debugtracer.causes

    folder = os.environ.get(FOLDER, "")
    brought = [members_from(Path(folder), Cause) if folder else {}, members_installed(ROOM, Cause)]
    return joined(members(debugtracer.causes, Cause), *map(complete, brought))


def complete(brought: dict[str, Cause]) -> dict[str, Cause]:
    """Return the causes that name a class; one that does not would fail in the middle of a diagnosis."""
    lacking = [slug for slug, cause in brought.items() if not isinstance(getattr(cause, "kind", None), str)]
    for slug in lacking:
        swallow(f"plugins: {slug}", DebugTracerError("the cause names no class; expected `kind: ClassVar[str] = ...`"))
    return {slug: cause for slug, cause in brought.items() if slug not in lacking}
