"""The causes under suspicion while a log is judged: each class once, with what speaks for and against it."""

from __future__ import annotations

from dataclasses import dataclass, field

from debugtracer.logs.patterns import Class, patterns
from debugtracer.trace.birth import Frame
from debugtracer.trace.step import Phase

MOST = 0.9  # from text alone nothing is surer, and nothing is ever confirmed
UNKNOWN = Class(layer="numerics", remedy=())


@dataclass(frozen=True)
class At:
    """Where a sign was seen; what is not known stays empty."""

    line: int = 0
    """1-based line of the log."""
    symptom: str = ""
    frame: Frame | None = None
    op: str | None = None
    phase: Phase | None = None
    rank: int | None = None


@dataclass
class Candidate:
    """One class of fault. `certainty` 0..0.9."""

    kind: str
    certainty: float = 0.0
    reasons: list[tuple[float, str]] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)
    """Before those of the class."""
    frame: Frame | None = None
    op: str | None = None
    phase: Phase | None = None
    symptom: str = ""
    line: int = 0
    """Where in the log its first sign is."""
    rank: int = 0
    sample: str = ""
    """The sample that the text names."""

    @property
    def known(self) -> Class:
        """The layer and remedies of the class."""
        return patterns().classes.get(self.kind, UNKNOWN)

    @property
    def evidence(self) -> tuple[str, ...]:
        """What speaks for it, strongest first."""
        return tuple(dict.fromkeys(text for _, text in sorted(self.reasons, key=lambda reason: -reason[0])))


@dataclass
class Case:
    """All candidates."""

    candidates: dict[str, Candidate] = field(default_factory=dict)

    def speaks_for(
        self, kind: str, certainty: float, reason: str, at: At = At(), remedies: tuple[str, ...] = ()
    ) -> Candidate:
        """Note a sign for a class: two independent ones are worth more than each; the first known place stays."""
        one = self.candidates.setdefault(kind, Candidate(kind, line=at.line, rank=at.rank or 0))
        one.certainty = min(MOST, 1 - (1 - one.certainty) * (1 - certainty))
        one.reasons.append((certainty, reason))
        one.frame, one.op, one.phase = one.frame or at.frame, one.op or at.op, one.phase or at.phase
        one.symptom, one.line = one.symptom or at.symptom, one.line or at.line
        one.remedies += [remedy for remedy in remedies if remedy not in one.remedies]
        return one

    def speaks_against(self, kind: str, share: float, reason: str) -> None:
        """Note a sign against a class: its certainty is multiplied by `share`."""
        one = self.candidates.get(kind)
        if one is not None:
            one.certainty *= share
            one.against.append(reason)

    def ranked(self) -> list[Candidate]:
        """The likeliest first; of equal ones the one that showed first in the log."""
        return sorted(
            (c for c in self.candidates.values() if c.certainty > 0.05), key=lambda c: (-round(c.certainty, 3), c.line)
        )
