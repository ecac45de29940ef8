"""One thing that happened, as a person who is not there is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from debugtracer.trace.finding import SEVERITIES

SCHEMA = "debug-tracer.notice/1"
RANKS: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}


@dataclass(frozen=True)
class Notice:
    """One thing that happened."""

    severity: str
    event: str
    """`stop`, the slug of another response, or `ended`."""
    text: str
    run: str = ""
    step: int | None = None
    rank: int | None = None
    last: bool = False
    """Nothing comes after it: it is sent at once and waited for."""

    def document(self, held_back: int) -> dict[str, Any]:
        """The notice as JSON, with the number of those that were held back before it."""
        told = {"severity": self.severity, "event": self.event, "text": f"debug-tracer: {self.text}", "run": self.run}
        place = {name: at for name, at in (("step", self.step), ("rank", self.rank)) if at is not None}
        return {**told, **place, "schema": SCHEMA, "held_back": held_back}
