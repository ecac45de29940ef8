"""A governor that is told how long each step took and how much of it was ours."""

from __future__ import annotations

from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.unseen_cost import UNSEEN


class Steps:
    """Steps of so many seconds of which so many are ours."""

    def __init__(self, cost: float = 0.03, core: float = 1.0) -> None:
        self.state = RunState()
        self.state.stepped = True
        self.core, self.wall_s = core, 0.0
        """The share of a core that the training thread has, and the seconds on the wall."""
        self.governor = Governor(cost, self.state, lambda: (self.core * self.wall_s, self.wall_s))

    def go(self, steps: int, step_s: float, own_s: float, incident_s: float = 0.0) -> None:
        for _ in range(steps):
            self.state.step += 1
            self.state.step_s = step_s
            self.wall_s += step_s
            self.state.own_s += (own_s - incident_s) / (1 + UNSEEN) + incident_s
            self.state.incident_s += incident_s
            self.governor.step_closed()

    def working(self) -> list[Part]:
        return [part for part in Part if self.governor.affords(part)]
