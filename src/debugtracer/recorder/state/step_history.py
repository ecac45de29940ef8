"""A snapshot of parameters, moments and buffers, and the steps recorded since it was taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.recorder.state.buffer_copies import BufferCopies
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.held_weights import Average
from debugtracer.recorder.state.loop_state import LoopState
from debugtracer.recorder.state.roots import RootState
from debugtracer.recorder.tape.step_tape import Segment


@dataclass
class Snapshot:
    """The state in which a segment began."""

    number: int = -1
    """Segment that begins with this state."""
    step: int = -1
    level: float = math.inf
    """Median of the losses just before it; infinite while there were too few."""
    copies: list[UpdateCopy] = field(default_factory=list)
    buffers: BufferCopies = field(default_factory=BufferCopies)
    gradients: list[tuple[Tensor, Tensor]] | None = None
    """(parameter, its gradient) where updates add to gradients of before; None: there were some, but each update clears
    its own first."""

    roots: list[RootState] = field(default_factory=list)
    """Counters, caches and carried tensors that the modules held in plain attributes."""
    loop: LoopState | None = None
    """Schedulers, scalers and generators, in the modes that may go back to it."""

    def is_of(self, optimizers: list[Optimizer]) -> bool:
        """True if it holds the parameters of just these optimizers, in this order."""
        return [copy.optimizer() for copy in self.copies] == optimizers

    def restore(self) -> None:
        """Restore the values in place."""
        for copy in self.copies:
            copy.restore()
        self.buffers.restore()

    def restore_gradients(self) -> None:
        """Restore gradients as new tensors: the present ones belong to the user."""
        for parameter, value in self.gradients or ():
            parameter.grad = value.clone() if value.device == parameter.device else value.to(parameter.device)

    def go_back(self, generators: bool = False) -> None:
        """Restore everything that training goes on with: values, carried tensors, schedulers and scalers."""
        self.restore()
        self.buffers.places.restore()
        for root in self.roots:
            root.attributes.restore()
        if self.loop is not None:
            self.loop.restore(generators)

    @property
    def averages(self) -> list[Average]:
        """The averages of the weights with their copies, in the modes that may go back to it."""
        return self.loop.averages if self.loop is not None else []

    def is_finite(self) -> bool:
        """True if no weight, moment or buffer in it is NaN or infinite. Syncs the host."""
        return all_finite(self.values())

    def values(self) -> Iterator[object]:
        """Every value of parameters, moments and buffers."""
        for kept in self.copies:
            yield from kept.values
            yield from (value for state in kept.state.values() for value in state.values())
        yield from self.buffers.values()
        yield from (average.value for average in self.averages if average.holder is None)

    @property
    def nbytes(self) -> int:
        """The bytes held by the snapshot."""
        values = (*(v for _, v in self.gradients or ()), *(a.value for a in self.averages))
        return sum(c.nbytes for c in self.copies) + self.buffers.nbytes + sum(map(held_bytes, values))


@dataclass
class StepHistory:
    """A snapshot and every segment since, oldest first, up to one step."""

    snapshot: Snapshot
    segments: list[Segment]

    @property
    def steps(self) -> int:
        """The updates between the snapshot and its last segment."""
        return len(self.segments) - 1

    def up_to(self, step: int) -> StepHistory | None:
        """The part of it that ends at a step; None where that leaves fewer than two updates."""
        segments = [s for s in self.segments if s.first_step <= step]
        ends = len(segments) > 2 and segments[-1].first_step == step
        return StepHistory(self.snapshot, segments) if ends else None


def by_loss(
    best: Snapshot | None, oldest: Snapshot, fits: Callable[[Snapshot], bool]
) -> tuple[Snapshot, Snapshot | None]:
    """The snapshot of the lowest loss, then the other, which may be overwritten."""
    lower = best is None or not fits(best) or oldest.level < best.level
    return (oldest, best) if lower or best is None else (best, oldest)
