"""A bad loss of one rank is looked into when the backward of all is over; modes val and prod agree about it then, mode
observe asks nobody."""

from __future__ import annotations

from collections.abc import Callable

from debugtracer.diagnosis.incidents import Incidents
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.listeners import GateRanks
from debugtracer.recorder.run_state import RunState


class LateConsensus(GateRanks):
    """One per process. A bad loss waits for the gate, for a replay in front of a backward would take part in its
    reduction. A reduced gradient is the same on every rank, so all of them find it bad at the same gate: where it
    `asks`, no vote is needed while it is good. Of sharded weights each rank sees its own part: there all vote at each
    gate."""

    def __init__(self, incidents: Incidents, state: RunState, asks: bool) -> None:
        self.incidents, self.state, self.asks = incidents, state, asks
        self.asked = False
        """The ranks have asked each other about the bad steps in a row that go on. A reduced gradient is the same on
        every rank, and so is this: what a rank has open of its own is not."""

    def meets(self) -> bool:
        """Whether each step is read and voted on for the sake of the other ranks: where weights are sharded alone."""
        return self.asks and self.state.roots.sharded and self.incidents.meets()

    def together(self, bad: bool, alarm: Callable[[], Alarm]) -> bool:
        """Look into a bad reduced gradient with all ranks; True where that was done, or was done before."""
        if self.meets():
            return self.with_shards(bad, alarm)
        if not self.asks or not bad or not self.incidents.meets():
            self.asked = False
            self.incidents.look_alone()
            return False
        if self.asked:
            return True
        self.asked = True
        return self.incidents.together(True, alarm, self.state.quiet_until_healthy)

    def with_shards(self, bad: bool, alarm: Callable[[], Alarm]) -> bool:
        """Ask whether a part of the update is bad on some rank, and look into it with all of them where it is."""
        anywhere = self.incidents.any_bad(bad)
        if not anywhere:
            self.asked = False
            self.incidents.look_alone()
            return False
        if not bad:
            self.state.health.found_elsewhere()
        if self.asked:
            return True
        self.asked = True
        return self.incidents.together(bad, alarm)
