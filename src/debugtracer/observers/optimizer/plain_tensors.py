"""Looks for tensors in an optimizer that can get no gradient, since nobody has asked for one."""

from __future__ import annotations

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.origins.held_origin import held_origin
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.plain_tensors import PlainTensors


class PlainLooks:
    """What the looks at one optimizer have left."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.updates = 0
        self.same: set[int] | None = None
        """Ids of the plain tensors that were there in every look."""

    def narrow(self, found: list[Tensor]) -> list[Tensor]:
        """Take one look; return those that were there in each."""
        ids = {id(tensor) for tensor in found}
        self.updates += 1
        self.same = ids if self.same is None else ids & self.same
        return [tensor for tensor in found if id(tensor) in self.same]


class PlainTensorsObserver(Observer):
    """Reads attributes alone, in inspected steps and where a loss hangs on nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Optimizer, PlainLooks] = ById()

    def reset(self) -> None:
        self.known.clear()

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look before a backward that is going to raise: no update follows it."""
        if not self.run.inspecting or any(loss.grad_fn is not None or loss.requires_grad for loss in losses):
            return
        raw = raw_frames(2)
        for optimizer in self.run.optimizers:
            if holds_plain_alone(optimizer):
                self.tell(optimizer, self.looks_of(optimizer), plain_tensors(optimizer), raw, self.run.here())

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Look at what the optimizer holds."""
        if self.run.inspecting:
            looks = self.looks_of(optimizer)
            same = looks.narrow(plain_tensors(optimizer))
            if same:
                self.tell(optimizer, looks, same, raw_frames(2), None)

    def looks_of(self, optimizer: Optimizer) -> PlainLooks:
        """What is known of an optimizer, from its first look on."""
        if optimizer not in self.known:
            self.known[optimizer] = PlainLooks(len(self.known))
        return self.known[optimizer]

    def tell(
        self, optimizer: Optimizer, looks: PlainLooks, found: list[Tensor], raw: RawFrames, loose: Frame | None
    ) -> None:
        """Emit one look at an optimizer."""
        self.run.emit(
            PlainTensors(
                ref=self.run.ref("backward") if loose is not None else self.run.ref("update", self.run.iteration - 1),
                optimizer=type(optimizer).__name__,
                number=looks.number,
                count=len(found),
                held=len(parameters(optimizer)),
                shape=tuple(found[0].shape),
                built=self.run.built_at(optimizer),
                made=held_origin(found[0], raw),
                looks=looks.updates,
                loose=loose,
            )
        )


def plain_tensors(optimizer: Optimizer) -> list[Tensor]:
    """What an optimizer holds that is no Parameter, asks for no gradient and has none."""
    return [
        tensor
        for tensor in parameters(optimizer)
        if not tensor.requires_grad and tensor.grad is None and not isinstance(tensor, nn.Parameter)
    ]


def holds_plain_alone(optimizer: Optimizer) -> bool:
    """Whether an optimizer holds such tensors and nothing else."""
    held = parameters(optimizer)
    return bool(held) and len(plain_tensors(optimizer)) == len(held)
