"""How a cause reads findings: which are warnings or errors, which name its class, which belong to one family."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from debugtracer.checks.check import family_of
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import order


@dataclass(frozen=True)
class FindingEvidence:
    """The findings of one run, or of its last steps, with the questions that several causes ask."""

    findings: tuple[Finding, ...]

    @functools.cached_property
    def loud(self) -> list[Finding]:
        """Return warnings and errors, the strongest first: exact before probable, sure before unsure, early before
        late."""
        return sorted((finding for finding in self.findings if finding.severity != "note"), key=order)

    def of(self, kind: str) -> list[Finding]:
        """Return loud findings that diagnose this class, the strongest first."""
        return [finding for finding in self.loud if finding.kind == kind]

    def by(self, *checks: str) -> list[Finding]:
        """Return loud findings of these checks (`layer/slug`), the strongest first."""
        return [finding for finding in self.loud if finding.check in checks]

    def families(self, *findings: Finding) -> frozenset[str]:
        """The families that these findings belong to; several findings of one family count once."""
        return frozenset(map(family_of, findings))
