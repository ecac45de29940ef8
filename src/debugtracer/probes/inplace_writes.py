"""Notes writes in place on inspected steps and the writes of optimizers, and tells of them when a backward dies of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.probes.frames import RawFrames, frames_of, raw_frames
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.crash import InplaceWrite, InplaceWrites

OPERATORS = frozenset(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")) | {"__setitem__"}
NOT_WRITES = frozenset({"requires_grad_", "unscale_", "retain_grad_"})
MOST = 512  # writes kept since the last backward (ours)
Kept = tuple[str, tuple[int, ...], int, RawFrames, tuple[int, ...], int]


class InplaceTaker(Taker):
    """Keeps names, shapes, version counters and raw lines; no tensor is held and no value is read."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Kept] = []
        self.steps: dict[str, RawFrames] = {}
        """Where an optimizer of that class wrote last."""
        self.since: set[str] = set()
        """Those classes after whose write a forward ran."""
        self.done = False
        """A backward has worked."""

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.writes.clear()
        self.steps.clear()
        self.since.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """A torch function ran."""
        name = getattr(function, "__name__", "")
        writes = name in OPERATORS or (name.endswith("_") and not name.endswith("__") and name not in NOT_WRITES) or kwargs.get("inplace") is True
        if writes and args and isinstance(args[0], Tensor) and len(self.writes) < MOST:
            base = args[0]._base if args[0]._base is not None else args[0]
            self.writes.append((name, tuple(args[0].shape), args[0]._version, raw_frames(1), tuple(base.shape), id(base)))

    def backward_ended(self, losses: list[Tensor]) -> None:
        """What was written before did no harm."""
        self.done = True

    def entered(self, module: Any, args: tuple[Any, ...]) -> None:
        """A forward after a backward that worked."""
        self.since.update(self.steps)
        if self.done:
            self.done = False
            self.writes.clear()

    def step_ended(self, optimizer: Optimizer) -> None:
        """An optimizer has written its parameters: a graph that needs them breaks too."""
        self.steps[type(optimizer).__name__] = raw_frames(1)
        self.since.discard(type(optimizer).__name__)

    def crashed(self, error: BaseException) -> None:
        """Only for the exception that a write in place makes."""
        text = str(error)
        if "modified by an inplace operation" not in text:
            return
        names = self.desk.names()
        told = [
            InplaceWrite(name=name, shape=shape, version=version, frame=first(raw), base=base, param=names.get(owner))
            for name, shape, version, raw, base, owner in self.writes
        ]
        for optimizer in self.desk.built:
            told += self.stepped(optimizer, names)
        self.desk.tell(InplaceWrites(ref=self.desk.ref("backward", self.desk.recorder.iteration_in_flight), writes=tuple(told[:MOST])))

    def stepped(self, optimizer: Optimizer, names: Mapping[int, str]) -> list[InplaceWrite]:
        """The parameters that it has written, as they are now."""
        kind = type(optimizer).__name__
        raw, since = self.steps.get(kind), kind in self.since
        if raw is None:
            return []
        return [
            InplaceWrite(name=f"{kind}.step", shape=tuple(p.shape), version=p._version, frame=first(raw), param=names.get(id(p)), forwards=since)
            for p in parameters(optimizer)
        ]


def first(raw: RawFrames) -> Any:
    """The user's innermost line."""
    frames = frames_of(raw[:1])
    return frames[0] if frames else None
