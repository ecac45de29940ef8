"""Finds copies of trained weights that lie in the weights' own memory, so that they are always equal to them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first as first_frame
from debugtracer.callsites.origins.kept_origin import DIFFERENCES, kept_line
from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.skipped_code import compiling
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.ties import address
from debugtracer.observers.weights.unchanged_loads import KeptState, Pairs, UnchangedLoads
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.shared_memory import SharedMemory

COMPARING = DIFFERENCES | {"__sub__", "__rsub__"}
STATES = 16  # states of which it is known when they were taken (ours)
FEWEST = 2  # parameters of a network (ours)
MOST = 4096  # tensors of a step that are followed (ours); beyond them nothing is said of differences


class SharedMemoryObserver(Observer):
    """Compares addresses, around rare calls and in inspected steps; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.taken: deque[KeptState] = deque(maxlen=STATES)
        self.unchanged = UnchangedLoads()
        self.made: dict[int, Callable[[], Tensor | None]] = {}
        """What calls of this step have made without a graph."""
        self.taken_from: dict[int, tuple[RawFrames, int]] = {}
        """Weights that this step takes from their own memory, with the line, and on which side of it that is."""
        self.versions: list[dict[int, int]] = []
        """Of weights whose optimizer keeps them in their own memory, at each backward of a step."""
        self.told: set[object] = set()

    def install(self) -> None:
        """Patch the two calls between which a state is kept."""
        self.calls.off = False
        self.calls.patches.wrap(nn.Module, "state_dict", functools.partial(self.around, self.noted, True))
        self.calls.patches.wrap(nn.Module, "load_state_dict", functools.partial(self.around, self.given, False))

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.taken.clear()
        self.unchanged.reset()
        self.forget()
        self.told.clear()

    def missed(self) -> None:
        """Forget what was noted in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was noted in the step."""
        self.made.clear()
        self.taken_from.clear()
        self.versions.clear()

    def around(self, seen: Callable[..., None], after: bool, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap one such method; calls it makes itself are not looked at."""
        look = guarded("observers.shared_memory")(seen)

        def watched(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            if not after:
                with self.run.aside():
                    look(module, args[0] if args else kwargs.get("state_dict"))
            result = original(module, *args, **kwargs)
            if after:
                with self.run.aside():
                    look(module, result)
            return result

        @functools.wraps(original)
        def method(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.calls.passes():
                return original(module, *args, **kwargs)
            return self.calls.inside(watched, module, *args, **kwargs)

        return method

    def noted(self, module: nn.Module, state: Any) -> None:
        """Remember when a state was taken, by one tensor of it: a dict of the user's own may hold it later."""
        first = next(dense(state.values()), None) if isinstance(state, dict) else None
        if first is not None:
            number = self.taken[-1].number + 1 if self.taken else 0
            self.taken.append(KeptState(WeakRef(first), self.run.step, raw_frames(3), number))

    def given(self, module: nn.Module, state: Any) -> None:
        """Emit a state of some updates ago that is the memory of the module it is loaded into, or that was computed
        from such states."""
        if not isinstance(state, dict):
            return
        own: Pairs = [(p, state[n]) for n, p in module.named_parameters() if isinstance(state.get(n), Tensor)]
        if not own or not all(shares(p, v) for p, v in own):
            self.computed(own, module)
            return
        ids = {id(v) for v in state.values()}
        known = next((t for t in self.taken if (v := t.tensor()) is not None and id(v) in ids), None)
        held = {id(p) for one in self.run.optimizers for p in parameters(one)}
        if known is None or not any(id(p) in held for p, _ in own):
            return
        updates, name = self.run.step - known.step, type(module).__name__
        if load := self.unchanged.since(module, known):
            self.emit("exchanged", name, len(own), updates, load, first_frame(known.raw))
        elif updates:
            self.emit("restored", name, len(own), updates, raw_frames(3), first_frame(known.raw))

    def computed(self, own: Pairs, module: nn.Module) -> None:
        """Emit the kept state from which a load was computed that gives back what is there, each time."""
        raw = raw_frames(4)
        kept = self.unchanged.given(own, module, self.taken, self.run.step, raw)
        if kept is not None:
            self.emit(
                "unchanged", type(module).__name__, len(own), self.run.step - kept.step, raw, first_frame(kept.raw)
            )

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit a weight that is taken from a tensor of its own memory that no call of this step has made."""
        if isinstance(output, Tensor) and not output.requires_grad and len(self.made) < MOST:
            self.made[id(output)] = WeakRef(output)
        if getattr(function, "__name__", "") not in COMPARING or len(args) < 2 or not torch.is_grad_enabled():
            return
        first = is_weight(args[0])
        weight, other = args[:2] if first else (args[1], args[0])
        if not is_weight(weight) or not isinstance(other, Tensor) or other.requires_grad or not shares(weight, other):
            return
        made = self.made.get(id(other))
        if len(self.made) < MOST and (made is None or made() is not other):
            swapped = function.__name__ == "__rsub__"
            self.taken_from[id(weight)] = raw_frames(1), int(first is not swapped)

    @inspected
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note which weights lie in the state of their optimizer, and how often they were written."""
        held = {
            id(p): p._version
            for one in self.run.optimizers
            for p in parameters(one)
            if any(isinstance(v, Tensor) and v is not p and shares(p, v) for v in one.state.get(p, {}).values())
        }
        self.versions.append(held)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit what was kept in its own memory while it was written, and networks in the memory of trained ones."""
        first, last = (self.versions[0], self.versions[-1]) if len(self.versions) > 1 else ({}, {})
        written = [key for key in first if last.get(key, first[key]) != first[key]]
        if written:
            name = self.run.names().get(written[0], "a weight")
            self.emit("rescue", name, len(written), 0, raw_frames(2))
        taken = next(iter(self.taken_from), None)
        if taken is not None:
            name = self.run.names().get(taken, "a weight")
            raw, side = self.taken_from[taken]
            kept = guarded("observers.shared_memory: kept")(kept_line)(frames_of(raw), side)
            self.emit("difference", name, len(self.taken_from), 0, raw, kept)
        self.networks(optimizer)
        self.forget()

    def networks(self, optimizer: Optimizer) -> None:
        """Emit a root without an optimizer whose every parameter lies in the memory of the same one of a trained
        root."""
        roots = [(m, dict(m.named_parameters())) for m in self.run.modules()]
        held = {id(p) for one in [*self.run.optimizers, optimizer] for p in parameters(one)}
        free = [(m, own) for m, own in roots if len(own) >= FEWEST and not any(id(p) in held for p in own.values())]
        for module, own in free:
            for _, theirs in roots:
                if (
                    theirs.keys() == own.keys()
                    and all(id(p) in held for p in theirs.values())
                    and all(shares(theirs[name], p) for name, p in own.items())
                ):
                    self.emit("network", type(module).__name__, len(own), 0, ())

    def emit(
        self,
        how: Literal["restored", "exchanged", "unchanged", "difference", "rescue", "network"],
        name: str,
        count: int,
        updates: int,
        raw: RawFrames,
        made: Frame | None = None,
    ) -> None:
        """Emit it once for each line."""
        if (how, raw) in self.told:
            return
        self.told.add((how, raw))
        frames = frames_of(raw)
        self.run.emit(
            SharedMemory(
                ref=self.run.ref("update"), how=how, name=name, count=count, updates=updates,
                frame=frames[0] if frames else None, made=made,
            )
        )  # fmt: skip


def dense(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors that lie in one piece."""
    return (v for v in values if isinstance(v, Tensor) and is_dense(v))


def is_weight(value: Any) -> bool:
    """Whether it is a parameter that is trained."""
    return isinstance(value, nn.Parameter) and value.requires_grad


def shares(weight: Tensor, other: Tensor) -> bool:
    """Whether two tensors are one memory, laid out alike."""
    if not is_dense(weight) or not is_dense(other) or weight.shape != other.shape:
        return False
    return weight.stride() == other.stride() and (at := address(weight)) is not None and at == address(other)
