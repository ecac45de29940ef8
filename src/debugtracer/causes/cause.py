"""The contract of a cause: what speaks for and against it in the facts of an incident or in the findings of the checks, and what to do about it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal

from debugtracer.causes.hearing import Hearing
from debugtracer.causes.reading import Reading
from debugtracer.causes.rewrite.change import proposed
from debugtracer.plugins import members, slug_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding, Layer
from debugtracer.trace.verdict import Change

CAUTIOUS = 0.95  # a guess never sounds like a proof: the ceiling of what is not exact (ours)
EXACT = 0.97  # as in trace/lead.py

Edit = Literal["operator", "optimizer", "data"]


@dataclass(frozen=True)
class Signs:
    """What the facts say about one cause."""

    confidence: float
    """0..1; from 0.7 on it is likely, from 0.4 on possible."""
    because: str
    """One clause with the numbers seen: `every score of the row is -inf, so softmax divides 0 by 0`. Of findings: the whole message of the leading one."""
    remedies: tuple[str, ...]
    """What to do, best first, one line each."""
    against: tuple[str, ...] = ()
    """What speaks against it."""
    exact: bool = False
    """An invariant was broken: nothing else can explain it, no trial is needed."""
    whole_batch: bool = False
    """Every row of the batch is guilty, not a few."""
    evidence: tuple[str, ...] = ()
    """What speaks for it, strongest first."""
    leading: Finding | None = None
    """Of findings: the one that says it, for its place in the run and in the code."""


@dataclass(frozen=True)
class Cause:
    """Base of all causes. A rule must be true of PyTorch, never of one script; its slug is its file name."""

    kind: ClassVar[str]
    """Class of the verdict: the word of the taxonomy (written as `class`)."""
    layer: ClassVar[Layer] = "numerics"
    edit: ClassVar[Edit] = "operator"
    """Whose line a person edits: the operator's, the optimizer's constructor, or where the data is made."""

    fallback: ClassVar[bool] = False
    """True if it only names the arithmetic; never shown beside a cause that knows why."""
    proved_by: ClassVar[tuple[str, ...]] = ()
    """Interventions (slugs) that heal the step if this is the cause, the narrowest first: `stable-op`, `without-sample`."""
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
    hears: ClassVar[bool] = True
    """False for one that speaks of non-finite values only, where another cause of the same class hears the checks."""

    def signs(self, seen: Reading) -> Signs | None:
        """What the facts of an incident say; None if this is not the cause. Pure: no IO, no torch, no host sync."""
        return None

    def heard(self, seen: Hearing) -> Signs | None:
        """What the findings of the checks say where nothing became non-finite; None if this is not the cause. Pure.

        The loud findings of this class are its evidence, the best of them leads. Each other family of findings that supports it adds
        one bit, each that contradicts it takes two (CHECKS 5.2.3); the family of the leading one adds nothing a second time (5.2.1).
        """
        said = seen.of(self.kind) if self.hears else []
        if not said:
            return None
        best, further = said[0], seen.by(*self.supports)
        against = seen.by(*self.contradicts)
        bits = len(seen.families(*said, *further) - seen.families(best)) - 2 * len(seen.families(*against))
        return Signs(
            confidence=max(best.confidence, EXACT) if best.exact else min(weighed(best.confidence, bits), max(CAUTIOUS, best.confidence)),
            because=best.message,
            remedies=best.remedy or self.remedies,
            against=messages(against),
            exact=best.exact,
            evidence=messages([*said, *further]),
            leading=best,
        )

    def change(self, seen: Reading | Hearing, frame: Frame, value: float | None = None) -> Change | None:
        """The remedy as a change of that line of the user's; None where the line is not understood or the remedy is no line.

        `value` is that of the trial that healed (eps, distance from an edge, what the rate is divided by); None takes one that the dtype can hold.
        Reads the user's file where the line alone does not name the optimizer.
        """
        return proposed(self.rewrites, seen, frame, value)

    @property
    def slug(self) -> str:
        """The file name with dashes."""
        return slug_of(type(self).__module__, "debugtracer.causes")


def weighed(confidence: float, bits: int) -> float:
    """A confidence after that many bits of evidence: one bit doubles the odds."""
    odds = confidence * 2.0**bits
    return odds / (odds + 1 - confidence)


def messages(findings: list[Finding]) -> tuple[str, ...]:
    """What they say, each once."""
    return tuple(dict.fromkeys(finding.message for finding in findings))


@functools.cache
def causes() -> dict[str, Cause]:
    """Every cause by slug. The folder is the registry."""
    import debugtracer.causes

    return members(debugtracer.causes, Cause)
