"""Notes writes in place on inspected steps and those of optimizers, and emits them when a backward dies of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.sizes import sizes
from debugtracer.trace.facts.crash import InplaceWrite, InplaceWrites

OPERATORS = frozenset(
    f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
) | {"__setitem__"}
NOT_WRITES = frozenset({"requires_grad_", "unscale_", "retain_grad_"})
OVERWRITTEN = "modified by an inplace operation"  # in the exception of a backward that needs the old value
MOST = 512  # writes kept since the last backward (ours)
Kept = tuple[str, tuple[int, ...], int, RawFrames, tuple[int, ...], int]


class InplaceObserver(Observer):
    """Keeps names, shapes, version counters and raw lines; no tensor is held and no value is read."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.writes: list[Kept] = []
        self.steps: dict[str, RawFrames] = {}
        """Where an optimizer of that class wrote last."""
        self.since: set[str] = set()
        """Those classes after whose write a forward ran."""
        self.done = False
        """A backward has worked."""

    def reset(self) -> None:
        self.writes.clear()
        self.steps.clear()
        self.since.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a torch function that writes in place."""
        name = getattr(function, "__name__", "")
        if is_write(name, kwargs) and args and isinstance(args[0], Tensor) and len(self.writes) < MOST:
            if args[0].is_inference():  # no version, and no backward will need it
                return
            base = args[0]._base if args[0]._base is not None else args[0]
            self.writes.append((name, sizes(args[0]), args[0]._version, raw_frames(1), sizes(base), id(base)))

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note that what was written before did no harm."""
        self.done = True

    def entered(self, module: Any, args: tuple[Any, ...]) -> None:
        """Drop the writes before a backward that worked, when the next forward begins."""
        self.since.update(self.steps)
        if self.done:
            self.done = False
            self.writes.clear()

    def step_ended(self, optimizer: Optimizer) -> None:
        """Note that an optimizer has written its parameters: a graph that needs them breaks too."""
        self.steps[type(optimizer).__name__] = raw_frames(1)
        self.since.discard(type(optimizer).__name__)

    def crashed(self, error: BaseException) -> None:
        """Emit the writes, only for the exception that a write in place makes."""
        if OVERWRITTEN not in str(error):
            return
        names = self.run.names()
        told = [
            InplaceWrite(name=name, shape=shape, version=version, frame=first(raw), base=base, param=names.get(owner))
            for name, shape, version, raw, base, owner in self.writes
        ]
        for optimizer in self.run.optimizers:
            told += self.stepped(optimizer, names)
        self.run.emit(
            InplaceWrites(ref=self.run.ref("backward", self.run.state.iteration_in_flight), writes=tuple(told[:MOST]))
        )

    def stepped(self, optimizer: Optimizer, names: Mapping[int, str]) -> list[InplaceWrite]:
        """The parameters that it has written, as they are now."""
        kind = type(optimizer).__name__
        raw, since = self.steps.get(kind), kind in self.since
        if raw is None:
            return []
        return [
            InplaceWrite(
                name=f"{kind}.step",
                shape=tuple(p.shape),
                version=p._version,
                frame=first(raw),
                param=names.get(id(p)),
                forwards=since,
            )
            for p in parameters(optimizer)
        ]


def is_write(name: str, kwargs: Mapping[str, Any]) -> bool:
    """True for a torch function that writes its first argument in place."""
    trailing = name.endswith("_") and not name.endswith("__") and name not in NOT_WRITES
    return name in OPERATORS or trailing or kwargs.get("inplace") is True
