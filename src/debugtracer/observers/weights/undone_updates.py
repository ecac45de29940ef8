"""Compares weights before an update with the same weights when the next update begins: was it taken back?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.optimizer.effects import comparable, part
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.undone_update import UndoneUpdate

LOOKS = 4  # first updates of an optimizer: three of them can be looked at again (ours)
REPLACES = frozenset({"__set__", "copy_", "set_", "__setitem__"})
"""Calls that put another value in the place of a tensor's, where `add_` and `lerp_` go on from it."""
NAMED = 4  # parameters named as evidence


class LastUpdate:
    """Samples of the parameters before an update and after it."""

    def __init__(self, number: int, held: list[Tensor]) -> None:
        self.number = number
        self.held = [WeakRef(p) for p in held]
        self.before = [part(p).clone() for p in held]
        self.after: list[Tensor] = []
        self.step: RawFrames = ()
        self.load: RawFrames = ()
        self.write: RawFrames = ()
        """The first write after it that puts another value in the place of what it made."""
        self.reset = False

    def holds(self, tensor: Tensor) -> bool:
        """Whether a tensor is one of the parameters, or has its memory as `p.data` does. No host sync."""
        held = [p for reference in self.held if (p := reference()) is not None]
        return any(tensor is p for p in held) or tensor.data_ptr() in {p.data_ptr() for p in held if p.numel()}


class UndoneUpdatesObserver(Observer):
    """Copies small samples in the first four updates of each optimizer, then hears no more of it."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.counts: ById[Optimizer, list[int]] = ById()
        """Number of the optimizer, and how many of its updates were looked at."""
        self.last: ById[Optimizer, LastUpdate] = ById()

    def reset(self) -> None:
        self.counts.clear()
        self.last.clear()

    def missed(self) -> None:
        """Drop the samples: updates have moved the weights since."""
        self.last.clear()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen again: a new one has not been looked at."""
        self.run.subscribe(self.step_begins, self.step_ended, self.called)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Look at the last update again, and take samples for this one."""
        number, done = self.counts.setdefault(optimizer, [len(self.counts), 0])
        last = self.last.pop(optimizer, None)
        if done >= LOOKS or isinstance(optimizer, torch.optim.LBFGS):
            self.counts[optimizer][1] = LOOKS
            self.rest()
            return
        with torch.no_grad():
            if last is not None and last.after:
                self.compare(optimizer, number, last)
            self.last[optimizer] = LastUpdate(done, [p for p in parameters(optimizer) if comparable(p)])

    def rest(self) -> None:
        """Stop listening to updates once every optimizer has been looked at."""
        if not self.last and all(o in self.counts and self.counts[o][1] >= LOOKS for o in self.run.optimizers):
            self.run.unsubscribe(self.step_begins, self.step_ended, self.called)

    def step_ended(self, optimizer: Optimizer) -> None:
        """Take the same samples after it."""
        last = self.last.get(optimizer)
        if last is None:
            return
        self.counts[optimizer][1] += 1
        held = [reference() for reference in last.held]
        with torch.no_grad():
            last.after = [part(p).clone() for p in held if p is not None]
        last.step = raw_frames(1)

    @of_functions(REPLACES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the line that first puts another value into a parameter after the update."""
        if getattr(function, "__name__", "") not in REPLACES or not args or not isinstance(args[0], Tensor):
            return
        for last in list(self.last.values()):
            if last.after and not last.write and last.holds(args[0]):
                last.write = raw_frames(1)

    def restored(self, word: str, owner: Any) -> None:
        """Note who loads a state into the parameters."""
        for optimizer, last in list(self.last.items()):
            if owner is optimizer:
                last.reset = True
            elif word == "weights" and isinstance(owner, nn.Module) and not last.load:
                held = {id(p) for p in parameters(optimizer)}
                if any(id(p) in held for p in owner.parameters()):
                    last.load = raw_frames(1)

    def compare(self, optimizer: Optimizer, number: int, last: LastUpdate) -> None:
        """Emit what became of the parameters that the update moved."""
        held = [reference() for reference in last.held]
        if len(last.after) != len(held) or any(p is None for p in held):
            return
        moved = [
            (p, same(part(p), old))
            for p, old, new in zip(held, last.before, last.after, strict=True)
            if p is not None and not same(old, new)
        ]
        back = [p for p, is_back in moved if is_back]
        names = self.run.names() if back else {}
        self.run.emit(
            UndoneUpdate(
                ref=self.run.ref("update", self.run.iteration - 2),
                optimizer=number,
                kind=type(optimizer).__name__,
                built=self.run.built_at(optimizer),
                number=last.number,
                moved=len(moved),
                back=len(back),
                params=tuple(names.get(id(p), f"parameter of shape {tuple(p.shape)}") for p in back[:NAMED]),
                loaded=beside(last.load, last.step),
                loads=next(iter(frames_of(last.load[:1])), None),
                written=next(iter(frames_of(last.write[:1])), None),
                reset=last.reset,
            )
        )


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two samples are equal; a host sync on a device."""
    return one.shape == other.shape and bool(torch.equal(one, other))


def beside(call: RawFrames, step: RawFrames) -> Frame | None:
    """The line of a call that lies in the function which calls step(), else its innermost line."""
    loop = {id(code) for code, _ in step[:1]}
    at = next((n for n, (code, _) in enumerate(call) if id(code) in loop), 0)
    return next(iter(frames_of(call[at : at + 1])), None)
