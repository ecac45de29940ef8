"""Finds a copy of a trained model (a target network) that runs without a graph and is never written, though the program
has a line that would, or has none."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.copying_line import copying_line
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.untouched_copy import untouched_copy
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.original_model import distance, original_of
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.stale_copy import StaleCopy
from debugtracer.trace.facts.unwritten_copy import UnwrittenCopy
from debugtracer.trace.number import number

LOOKS = 3  # before a condition that never holds is told (ours: as many as are inspected at the start)
MANY = 12_000  # updates without one (DQN copies every 10,000 steps in stable-baselines3, and in its paper; ours)
NEAR = 0.5  # of the norm: a copy that began as another network is no copy (ours)


class CopyWatch:
    """One copy: where it was called, what it held, and what was seen of it."""

    def __init__(self, model: nn.Module, raw: RawFrames, values: ChainMap[str, Any], name: str) -> None:
        self.raw, self.values, self.name = raw, values, name
        self.held = WeightSamples(list(model.parameters()))
        self.first = -1
        self.looks = 0
        self.over = False


class StaleCopiesObserver(Observer):
    """Keeps samples of weights; reads them in inspected steps alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[nn.Module, CopyWatch] = ById()

    def reset(self) -> None:
        self.known.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a root that is called without a graph."""
        if torch.is_grad_enabled() or self.known.get(module) is not None or len(list(self.known.items())) >= 8:
            return
        root = self.run.state.roots.get(module)
        if root is None or not root.has_parameters:
            return
        raw = raw_frames(2)
        self.known[module] = CopyWatch(module, raw, values_here(), bound_name(module))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Look at the copies of what this optimizer trains."""
        watches = [(module, watch) for module, watch in self.known.items() if not watch.over]
        trained = {id(p) for one in [*self.run.optimizers, optimizer] for p in parameters(one)} if watches else set()
        for module, watch in watches:
            if watch.first < 0:
                watch.first = self.run.step
            original = original_of(module, trained, self.run.modules())
            apart = distance(module, original) if original is not None else None
            if original is None or apart is None or not watch.held.stand() or (not watch.looks and apart > NEAR):
                watch.over = True
                continue
            watch.looks += 1
            if watch.looks >= LOOKS and apart > 0:
                self.judge(module, watch, apart)

    def judge(self, module: nn.Module, watch: CopyWatch, apart: float) -> None:
        """Emit a copy whose line is never reached."""
        stack, updates = frames_of(watch.raw), self.run.step - watch.first
        scopes = [watch.values if n == 0 else outer(watch.values, frame, stack[0]) for n, frame in enumerate(stack)]
        lines = (copying_line(frame, values) for frame, values in zip(stack, scopes, strict=True))
        found = next((line for line in lines if line is not None), None)
        if found is None:
            watch.over = True
            made = untouched_copy(watch.name) if watch.name else None
            if made is not None:
                self.run.emit(
                    UnwrittenCopy(
                        ref=self.run.ref("update"), module=type(module).__name__, name=watch.name, updates=updates,
                        apart=number(apart), made=made, called=stack[0] if stack else None,
                    )
                )  # fmt: skip
        elif found.never or updates >= MANY:
            watch.over = True
            self.run.emit(
                StaleCopy(
                    ref=self.run.ref("update"), module=type(module).__name__, updates=updates, apart=number(apart),
                    frame=found.frame, called=stack[0] if stack else None, never=found.never,
                )
            )  # fmt: skip


def outer(values: ChainMap[str, Any], frame: Frame, innermost: Frame) -> Mapping[str, Any]:
    """What is known of the variables of a frame further out: those of its file, where that is the same."""
    return values.maps[-1] if frame.file == innermost.file else {}


def values_here() -> ChainMap[str, Any]:
    """The variables of the user's innermost function, before those of its file."""
    frame = sys._getframe(2)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return ChainMap({}, {})
    return ChainMap(small(locals_of(frame)), small(frame.f_globals))


def small(values: dict[str, Any]) -> dict[str, Any]:
    """The whole numbers of a scope, and those that are fields of its plain objects: nothing of the program's is kept
    alive."""
    kept: dict[str, Any] = {}
    for name, value in list(values.items()):
        if type(value) is int:
            kept[name] = value
        elif not issubclass(type(value), (type, nn.Module, Tensor)) and (fields := whole_fields(value)):
            kept[name] = Fields(fields)
    return kept


def whole_fields(value: Any) -> dict[str, int]:
    """The whole numbers among the fields of an object; no code of the object's is run."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return {key: one for key, one in held.items() if type(one) is int} if type(held) is dict else {}


class Fields:
    """The whole numbers that were fields of an object."""

    def __init__(self, fields: dict[str, int]) -> None:
        self.__dict__.update(fields)
