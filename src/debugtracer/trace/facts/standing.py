"""Where one rank of several stood at the end of the run, or stands while it waits: evidence of a hang."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.exchange import Exchange
from debugtracer.trace.facts.fact import Fact


class Standing(Fact, frozen=True, kw_only=True):
    """Read from the rank's last words and events, never written to events.jsonl."""

    ABOUT = "several ranks"
    KEEP: ClassVar[int] = 1

    how: str
    """waits, crashed, killed, ended, or stopped (by us)."""
    updates: int | None
    """Optimizer updates done; of a killed rank as many as it had written down, None for none."""
    call: str = ""
    """The collective: `all_reduce`, `barrier`, `backward`, ...; "" in none."""
    frame: Frame | None = None
    """The user's innermost line."""
    exchanges: tuple[Exchange, ...] = ()
    """Its last calls of all_to_all."""
    message: str = ""
    """The exception, or the fatal error of the interpreter."""
