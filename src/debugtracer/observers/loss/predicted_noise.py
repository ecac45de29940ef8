"""Follows noise that is mixed into an input and then asked for, and looks at the first inputs of the same shape without
a graph: a sampler begins with noise alone."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.drawn_targets import DRAWS
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.numerics.tensor_health import sample_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.loss_call import ELEMENTWISE
from debugtracer.trace.facts.predicted_noise import PredictedNoise
from debugtracer.trace.number import number

PRODUCTS = frozenset({"mul", "__mul__", "__rmul__", "multiply", "addcmul", "lerp"})
MOST = 32  # draws followed in a step (ours)
LEAST = 64  # values that the numbers are taken of (ours)
LINES = 8  # lines that call without a graph, of each of which the first call is looked at (ours)


class Noise:
    """One draw of the step in flight, and what was done with it."""

    def __init__(self, tensor: Tensor, name: str, raw: RawFrames) -> None:
        self.tensor, self.name, self.raw = weakref.ref(tensor), name, raw
        self.mixed = False
        self.loss = ""
        values = sample_of(tensor.detach())
        self.moments = torch.std_mean(tensor if values is None else values, correction=0)


class PredictedNoiseObserver(Observer):
    """Hears the functions of inspected steps, and one call of an evaluation; keeps no tensor of the program's."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.draws: dict[int, Noise] = {}
        self.known: tuple[tuple[int, ...], Noise] | None = None
        """Shape without the batch, and the last such noise."""
        self.steps = 0
        self.lines: set[RawFrames] = set()

    def reset(self) -> None:
        self.draws, self.known, self.steps = {}, None, 0
        self.lines.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a draw, its product with the share of the noise, and that it is asked for."""
        name = getattr(function, "__name__", "")
        if name in DRAWS:
            fresh = isinstance(output, Tensor) and not output.requires_grad and output.dim() > 1
            if fresh and output.numel() >= LEAST and len(self.draws) < MOST and torch.is_grad_enabled():
                with torch.no_grad():
                    self.draws[id(output)] = Noise(output, name, raw_frames(1))
            return
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)] if self.draws else []
        for value in given:
            noise = self.draws.get(id(value))
            if noise is None or noise.tensor() is not value:
                continue
            noise.mixed |= name in PRODUCTS
            other = next((v for v in given if v is not value), None)
            if (name in DIFFERENCES or name in ELEMENTWISE) and other is not None and other.requires_grad:
                noise.loss = name

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Keep the numbers of a draw that was mixed and asked for, and nothing else; without one no call is heard."""
        if not self.draws:
            if self.known is None:
                self.run.unsubscribe(self.left)
            return
        for noise in self.draws.values():
            tensor = noise.tensor()
            if noise.mixed and noise.loss and tensor is not None:
                self.known, self.steps = (tuple(tensor.shape[1:]), noise), self.steps + 1
                self.run.subscribe(self.left)
        self.draws = {}

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit what a network that gives such noise is given first at a line without a graph."""
        if self.known is None or torch.is_grad_enabled() or not args or not isinstance(args[0], Tensor):
            return
        shape, noise = self.known
        if not isinstance(output, Tensor) or any(tuple(t.shape[1:]) != shape for t in (args[0], output)):
            return
        line = raw_frames(1)
        if line in self.lines:
            return
        self.lines.add(line)
        if len(self.lines) == LINES:
            self.run.unsubscribe(self.called, self.backward_begins, self.left)
        values = sample_of(args[0].detach())
        if values is None or values.numel() < LEAST:
            return
        std, mean = torch.std_mean(values, correction=0)
        numbers = torch.stack([x.double().cpu() for x in (mean, std, *values.aminmax(), *noise.moments)]).tolist()
        self.run.emit(
            PredictedNoise(
                ref=self.run.ref("forward", self.run.iteration - 1),
                draw=noise.name,
                mean=number(numbers[5]),
                std=number(numbers[4]),
                given_mean=number(numbers[0]),
                given_std=number(numbers[1]),
                low=number(numbers[2]),
                high=number(numbers[3]),
                count=values.numel(),
                steps=self.steps,
                loss=noise.loss,
                frame=first(noise.raw),
                given_frame=first(line),
            )
        )
