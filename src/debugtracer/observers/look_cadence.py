"""How often steps are looked at closely: every so many while all is well, twice as often after each anomaly, half as
often again after each quiet look; in mode prod after an anomaly alone."""

from __future__ import annotations

import math

from debugtracer.recorder.run_state import RunState

HALVINGS = 3  # of the interval at most (ours: every 12th step of 100)


class LookCadence:
    """One per process. Asked once a step."""

    def __init__(self, state: RunState, every: int, *, at_rest: bool) -> None:
        """Look every so many steps (0: never); with `at_rest` only once something was seen."""
        self.state, self.every, self.at_rest = state, every, at_rest
        self.reset()

    def reset(self) -> None:
        """Begin anew: nothing was seen yet."""
        self.halvings = 0
        self.idle_until = 0.0
        """The next step that may be looked at, unless something is seen before."""
        self.seen = self.state.anomalies
        """Anomalies of the run by the last time."""

    @property
    def interval(self) -> int:
        """The steps between two looks now; 0: none are due."""
        if self.every <= 0 or (self.at_rest and not self.halvings):
            return 0
        return max(1, self.every >> self.halvings)

    def is_due(self, step: int) -> bool:
        """Whether a step is to be looked at; an anomaly since the last time halves the interval, a quiet look doubles
        it."""
        if self.state.anomalies != self.seen:
            self.seen = self.state.anomalies
            self.halvings = min(self.halvings + 1, HALVINGS)
        interval = self.interval
        if not interval or step % interval:
            self.idle_until = step - step % interval + interval if interval else math.inf
            return False
        self.halvings = max(self.halvings - 1, 0)
        return True
