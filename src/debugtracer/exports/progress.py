"""How far a run was written for another tool: an export that follows a run goes on from here."""

from __future__ import annotations

from typing import Any


class Progress:
    """One per export of a run; empty for one that is written once."""

    def __init__(self, over: bool = True) -> None:
        """Start with nothing written; `over`: no more will come, what is open is to be closed."""
        self.over = over
        self.rounds = self.findings = 0
        self.last: dict[tuple[int, str], int] = {}
        """Rank and series -> the last step that was written."""
        self.names: dict[int, dict[str, str]] = {}
        """Rank -> series -> the name that it has in the other tool, where that is another one."""
        self.actions: dict[int, int] = {}
        """Rank -> lines of actions and effects that were written."""
        self.open: dict[int, Any] = {}
        """Rank -> what the other tool keeps open between two rounds."""

    def after(self, rank: int, name: str) -> int:
        """The first step of a series that is not written yet."""
        return self.last.get((rank, name), -1) + 1

    def wrote(self, rank: int, name: str, steps: list[int]) -> None:
        """Note that these steps of a series are written."""
        if steps:
            self.last[rank, name] = steps[-1]

    def round_over(self, over: bool) -> None:
        """Say whether the round that begins is the last one."""
        self.over = over

    def round_done(self, findings: int) -> None:
        """Note the end of a round that wrote so many findings of the run."""
        self.rounds, self.findings = self.rounds + 1, findings
