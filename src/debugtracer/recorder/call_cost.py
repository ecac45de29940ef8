"""What recording costs in calls too short to be timed each: one in some dozens is, and counts for all of them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.run_state import RunState

EVERY = 61  # calls for one that is timed; a prime, so that no loop of the program keeps step with it (ours)
WEIGHT = 0.1  # of the newest call in the mean (ours)
SLOW = 100.0  # times the mean: the most that one call counts, for the machine may have slept (ours)
TRIALS = 40  # calls by which the way through torch to a function mode is measured, once (ours)


class CallCost:
    """One per function mode. The mode counts `left` down itself: a call of ours for each call would cost as much as it
    measures."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.left = EVERY
        """Calls until the next one that is timed."""
        self.detour_s = -1.0
        """Seconds that torch takes to hand a call to a mode and its result back; negative until measured."""
        self.mean_s = 0.0

    def add(self, seconds: float) -> None:
        """Count the timed call for itself and for those before it that were not; one that was interrupted counts as a
        slow one."""
        if self.detour_s < 0:
            self.detour_s = detour()
            # the first one imports what all others find
            self.mean_s = seconds = min(seconds, SLOW * self.detour_s) or seconds
        self.mean_s += WEIGHT * (min(seconds, SLOW * self.mean_s) - self.mean_s)
        self.state.own_s += (self.mean_s + self.detour_s) * (EVERY - self.left)
        self.left = EVERY


class PassOn(TorchFunctionMode):
    """A mode that only calls."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


def detour() -> float:
    """Measure what a call costs more under a mode that only calls, seconds; a tenth of a millisecond in all."""
    with measuring(False):
        one = torch.empty((), device="cpu")
        bare = seconds_of(one)
        with PassOn():
            return max(seconds_of(one) - bare, 0.0)


def seconds_of(tensor: torch.Tensor) -> float:
    """The fastest of some calls that do nothing, seconds."""
    fastest = 1.0
    for _ in range(TRIALS):
        begin = perf_counter()
        tensor.dim()
        fastest = min(fastest, perf_counter() - begin)
    return fastest
