"""What a run says, for tests of takers: its facts of one kind, its findings."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from debugtracer.trace.events import Found, Observed
from debugtracer.trace.facts.fact import Fact, from_plain
from debugtracer.trace.finding import Finding
from tests.watching import events

F = TypeVar("F", bound=Fact)


def facts(out: Path, kind: type[F]) -> list[F]:
    """The facts of a kind that the only run has written down."""
    told = [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == kind.word()]
    return [fact for fact in told if isinstance(fact, kind)]


def findings(out: Path, check: str = "") -> list[Finding]:
    """Its findings, of one check or of all."""
    return [e.finding for e in events(out) if isinstance(e, Found) and check in e.finding.check]
