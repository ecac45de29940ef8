"""What the gate has seen of the update in flight, as one value: who may hold an update reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence


class StepHealth:
    """One per run, written by the health gate. Of a healthy step only `bad` is ever read."""

    def __init__(self) -> None:
        self.bad = False
        """A number of the update in flight is not finite, or the weights are not after it."""
        self.loss: float | None = None
        """The bad loss of the window, of several the first."""
        self.gradient = self.weights = False
        """Some gradient, some parameter after the last update is not finite."""
        self.sibling = False
        """Another optimizer's update after the same backward was left out."""
        self.reported = False
        """Another rank has found the update bad, of which this one holds a good part."""
        self.held_at = self.held_iteration = -1
        """The step whose update was left out last, and the number of backward calls by then."""

    def judged(self, losses: Sequence[float], gradient: bool, iteration: int) -> None:
        """Note what was read before a write, after so many backward calls."""
        self.loss = next((value for value in losses if not math.isfinite(value)), None)
        self.gradient = gradient
        self.sibling = iteration == self.held_iteration
        self.bad = gradient or self.sibling or self.reported or self.loss is not None

    def found_elsewhere(self) -> None:
        """Note that the ranks have voted, and one of them has found this update bad."""
        self.bad = self.reported = True

    def wrote_bad_weights(self) -> None:
        """Note that an update has left weights that are not finite."""
        self.bad = self.weights = True

    def forget(self) -> None:
        """Forget what was seen: it was answered."""
        self.bad, self.loss = False, None
        self.gradient = self.weights = self.sibling = self.reported = False

    def held(self, step: int, iteration: int) -> None:
        """Note that the update of this step is left out."""
        self.held_at, self.held_iteration = step, iteration
