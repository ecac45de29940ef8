"""Looks at the inputs of log, exp, sqrt, divisions and the like on inspected steps, unless something keeps them away
from the edge."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import OURS, TORCH, TORCH_HOME, RawFrames, frames_of, place_of, raw_frames
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.numerics.domain_guards import GUARDS, Guards
from debugtracer.observers.numerics.domain_margin import (
    WATCHED,
    DomainMargin,
    distance_of,
    grain_of,
    limit_of,
    margin_of,
)
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.domain_edges import DomainEdges, Edge
from debugtracer.trace.number import number

MOST_ELEMENTS = 16_000_000  # of all arguments of one step: up to 100 ms on one core (ours)
MOST_CALLS = 128  # calls looked at in one step (ours)
CHOICES = frozenset({"where", "masked_fill", "masked_fill_", "nan_to_num", "nan_to_num_"})
BRIDGES = (TORCH_HOME + "overrides.py", TORCH_HOME + "_tensor.py", TORCH_HOME + "functional.py")


@dataclass
class EdgeSeen:
    """One call: its line, and the distance on its device."""

    raw: RawFrames
    module: str | None
    margin: tuple[str, str, str]
    distance: Tensor
    grain: float
    limit: float | None
    output: weakref.ref[Tensor]
    chosen: bool = False
    """Values at the edge may be replaced afterwards (where, masked_fill)."""


class DomainEdgesObserver(Observer):
    """One reduction for each watched call of an inspected step, one host sync for all of them when the step is over."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls: list[EdgeSeen] = []
        self.elements = 0
        self.guards = Guards()

    def reset(self) -> None:
        self.calls.clear()
        self.guards.clear()

    @of_functions(GUARDS, CHOICES, WATCHED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take calls of functions with an edge, of guards before them, and of choices after them."""
        name = getattr(function, "__name__", "")
        if name in GUARDS:
            self.guards.remember(name, args, kwargs, output)
        if name in CHOICES:
            for seen in self.calls:
                seen.chosen = seen.chosen or any(seen.output() is arg for arg in args if isinstance(arg, Tensor))
        if name in WATCHED and isinstance(output, Tensor) and output.requires_grad and len(self.calls) < MOST_CALLS:
            margin = margin_of(name, args)
            if (
                margin is not None
                and margin.given.requires_grad
                and self.elements + margin.given.numel() <= MOST_ELEMENTS
                and asked_by_program()
            ):
                self.measure(margin, output)

    def measure(self, margin: DomainMargin, output: Tensor) -> None:
        """Measure the distance of the nearest input; it stays on its device."""
        guard = self.guards.of(margin)
        if guard.holds:
            if margin.op == "sqrt":
                self.guards.root(guard, output)
            return
        running = running_module()
        module = path_of(running, self.run.modules()) if running is not None else None
        self.elements += margin.given.numel()
        with torch.no_grad():
            distance = distance_of(margin)
        limit = limit_of(margin) if margin.kind == "overflow" else None
        what = (margin.op, margin.kind, str(margin.given.dtype).removeprefix("torch."))
        self.calls.append(
            EdgeSeen(
                raw_frames()[:1], module, what, distance, grain_of(margin, guard.offset), limit, weakref.ref(output)
            )
        )

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Read the distances of the update and emit the nearest of each line."""
        calls, self.calls, self.elements = self.calls, [], 0
        self.guards.clear()
        calls = [call for call in calls if not call.chosen]
        if not self.run.inspecting or not calls:
            return
        nearest: dict[tuple[object, ...], Edge] = {}
        for call, distance in zip(calls, torch.stack([call.distance.cpu() for call in calls]).tolist(), strict=True):
            known = nearest.get((call.raw, call.margin))
            # NaN and values beyond the edge are for the alarms
            if not distance >= 0 or (known is not None and float(known.distance) <= distance):
                continue
            op, kind, dtype = call.margin
            frame = next(iter(frames_of(call.raw)), None)
            numbers = {"distance": number(distance), "grain": call.grain, "limit": call.limit}
            nearest[call.raw, call.margin] = Edge(
                op=op,
                kind=kind,  # type: ignore[arg-type]
                dtype=dtype,
                frame=frame,
                module=call.module,
                **numbers,  # type: ignore[arg-type]
            )
        if nearest:
            self.run.emit(DomainEdges(ref=self.run.ref("update"), edges=tuple(nearest.values())))


def asked_by_program() -> bool:
    """True if the program (or a library other than torch) calls it; calls inside torch's layers do not count."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        place = place_of(frame.f_code)
        if place != OURS and not (place == TORCH and frame.f_code.co_filename in BRIDGES):
            return place != TORCH
        frame = frame.f_back
    return False
