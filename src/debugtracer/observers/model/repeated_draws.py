"""Compares what a model draws in its forward with what it drew in the step before."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import written_at
from debugtracer.errors import guarded
from debugtracer.observers.checkpoint.checksum import checksums
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.repeated_draw import RepeatedDraw

DRAWS = frozenset({"randn", "randn_like", "rand", "rand_like", "randint", "normal", "bernoulli"})
LOOKS = 3  # steps that must be alike (ours: as many as are inspected at the start)
MOST = 16  # draws of a step that are compared (ours)
ELEMENTS = 2**18  # of a draw and of an input (ours)
BY_NAME = 99  # `generator` is never given by place

Draw = tuple[str, tuple[int, ...], int]


class RepeatedDrawsObserver(Observer):
    """Hears the functions of the first inspected steps; keeps checksums alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        """Reset to a run in which nothing was drawn yet."""
        self.rows, self.looks = 0, 0
        self.inputs: tuple[int, ...] = ()
        self.inputs_before: tuple[int, ...] = ()
        self.drawn: dict[Draw, tuple[int, str, RawFrames]] = {}
        self.before: dict[Draw, tuple[int, int]] = {}
        """Checksum of each draw of the step before, and in how many steps running it was that."""

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Remember the inputs of the first module of a step. Syncs the host where they are on a device."""
        given = [a for a in args if comparable(a)]
        if not self.inputs and given and module.training:
            self.rows, self.inputs = len(given[0]), checksums(given)

    @of_functions(DRAWS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember what a module draws for each row of its inputs."""
        name = getattr(function, "__name__", "")
        if name not in DRAWS or not torch.is_grad_enabled() or not self.inputs:
            return
        if not comparable(output) or len(output) != self.rows:
            return
        module = running_module()
        if module is None or not module.training or len(self.drawn) == MOST:
            return
        number = sum(key[:2] == (name, tuple(output.shape)) for key in self.drawn)
        key = name, tuple(output.shape), number
        self.drawn[key] = checksums([output])[0], type(module).__name__, raw_frames(1)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Compare with the step before; tell what was the same in LOOKS steps of other inputs."""
        if not self.run.inspecting:
            return
        other = self.inputs != self.inputs_before
        for key, (checksum, module, raw) in self.drawn.items():
            was, times = self.before.get(key, (checksum, 0))
            times = times + 1 if was == checksum and other else 1
            self.before[key] = checksum, times
            if times == LOOKS:
                self.emit(key, module, raw)
        self.inputs_before, self.inputs = self.inputs, ()
        self.drawn.clear()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.entered, self.called, self.backward_begins)

    def emit(self, key: Draw, module: str, raw: RawFrames) -> None:
        """Write it down with its line, and with that of its generator."""
        name, shape, _ = key
        stack = frames_of(raw)
        links = guarded("repeated_draws.made")(argument_origin)(stack, (name,), "generator", BY_NAME) or ()
        self.run.emit(
            RepeatedDraw(
                ref=self.run.ref(), draw=name, shape=shape, module=module, looks=LOOKS,
                frame=stack[0] if stack else None, made=written_at(links),
            )
        )  # fmt: skip


def comparable(value: Any) -> bool:
    """True for a plain tensor with rows whose bits can be summed: not nested, sparse or quantized, no subclass."""
    if not isinstance(value, Tensor) or type(value.detach()) is not Tensor or value.layout is not torch.strided:
        return False
    if value.is_nested or value.is_quantized or value.is_meta:
        return False
    return value.dim() > 0 and 1 < value.numel() <= ELEMENTS
