"""Reads from the graph of each loss of an accumulation by what it was divided last, and before that."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import calling_place
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_division import LossDivision

LIBRARIES = "site-packages"  # the folder that packages are installed in


class LossDivisionsObserver(Observer):
    """Keeps numbers of one step; waits for no device: a divisor that is a Python number lies on the host."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.divisors: list[float | None] = []
        """Of each backward since the last update: what its loss was divided by twice in a row."""
        self.library = ""
        self.frame: Frame | None = None
        """The line of the program that the last backward came from."""

    def reset(self) -> None:
        """Drop the backward calls of the update in flight."""
        self.divisors.clear()

    def missed(self) -> None:
        """Drop them: the others of this update were not seen."""
        self.divisors.clear()

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note by what the loss was divided."""
        self.divisors.append(divided_twice(self.run.state.scaled.unscaled(losses[0])) if losses else None)
        self.library, self.frame = calling_library(), self.run.here()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit an update whose losses were all divided twice by their number."""
        divisors, count = set(self.divisors), len(self.divisors)
        self.divisors.clear()
        if self.library and count > 1 and divisors == {float(count)}:
            self.run.emit(LossDivision(ref=self.run.ref(), backwards=count, library=self.library, frame=self.frame))


def divided_twice(loss: Tensor) -> float | None:
    """The number that a loss was divided by two times in a row; None for anything else."""
    outer: Any = loss.grad_fn
    inner = outer.next_functions[0][0] if outer is not None and outer.next_functions else None
    if inner is None or not all(node.name().startswith("DivBackward") for node in (outer, inner)):
        return None
    found = {number_of(node) for node in (outer, inner)}
    return found.pop() if len(found) == 1 else None


def number_of(node: Any) -> float | None:
    """The Python number that a division divides by."""
    try:
        other = node._saved_other
    except (AttributeError, RuntimeError):  # another overload; freed by a backward before
        return None
    return float(other) if isinstance(other, Tensor) and other.numel() == 1 and other.device.type == "cpu" else None


def calling_library() -> str:
    """The package that calls backward; empty where the program does it itself."""
    place = calling_place()
    file = place[0].co_filename if place is not None else ""
    if not file or is_user_file(file) or LIBRARIES not in file:
        return ""
    return file.replace("\\", "/").rpartition(f"{LIBRARIES}/")[2].partition("/")[0]
