"""Looks for tensors in an optimizer that can get no gradient, since nobody has asked for one."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
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
        self.same: dict[int, int] | None = None
        """Ids of the plain tensors that were there in every look, and how often each had been written at the first."""
        self.made: Frame | None = None
        """The line that made the first of them."""

    def narrow(self, optimizer: Optimizer) -> list[Tensor]:
        """Take one look; return those that were there in each, unwritten; nothing where another tensor of their kind
        asks for a gradient: they may take turns."""
        turns = any(one.requires_grad and not isinstance(one, nn.Parameter) for one in parameters(optimizer))
        found = [] if turns else plain_tensors(optimizer)
        now = {id(tensor): tensor._version for tensor in found}
        self.same = now if self.same is None else {key: v for key, v in self.same.items() if now.get(key) == v}
        return [tensor for tensor in found if id(tensor) in self.same]


class PlainTensorsObserver(Observer):
    """Reads attributes alone, in inspected steps, where a loss hangs on nothing, and at the end."""

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
        if hold_plain_alone(self.run.optimizers):
            raw = raw_frames(2)
            for optimizer in self.run.optimizers:
                found = plain_tensors(optimizer)
                self.tell(optimizer, self.looks_of(optimizer), found, held_origin(found[0], raw), self.run.here())

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Look at what the optimizer holds."""
        if not self.run.inspecting:
            return
        looks = self.looks_of(optimizer)
        looks.updates += 1
        same = looks.narrow(optimizer)
        if same and looks.made is None:
            looks.made = held_origin(same[0], raw_frames(2))

    def ended(self) -> None:
        """Tell those that were there, unwritten, to the end: stages may have asked for a gradient later."""
        for optimizer, looks in list(self.known.items()):
            same = looks.narrow(optimizer) if looks.updates else []
            if same:
                self.tell(optimizer, looks, same, looks.made, None)

    def looks_of(self, optimizer: Optimizer) -> PlainLooks:
        """What is known of an optimizer, from its first look on."""
        if optimizer not in self.known:
            self.known[optimizer] = PlainLooks(len(self.known))
        return self.known[optimizer]

    def tell(
        self, optimizer: Optimizer, looks: PlainLooks, found: list[Tensor], made: Frame | None, loose: Frame | None
    ) -> None:
        """Emit what one optimizer holds."""
        self.run.emit(
            PlainTensors(
                ref=self.run.ref("backward") if loose is not None else self.run.ref("update", self.run.iteration - 1),
                optimizer=type(optimizer).__name__,
                number=looks.number,
                count=len(found),
                held=len(parameters(optimizer)),
                shape=tuple(found[0].shape),
                built=self.run.built_at(optimizer),
                made=made,
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


def hold_plain_alone(optimizers: Iterable[Optimizer]) -> bool:
    """Whether there are optimizers, and each holds such tensors and nothing else."""
    held = [(plain_tensors(one), parameters(one)) for one in optimizers]
    return bool(held) and all(every and len(plain) == len(every) for plain, every in held)
