"""Looks at the first inputs of a network: would they be smooth if their values were read in another order?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.callsites.origins.view_lines import view_line
from debugtracer.errors import guarded
from debugtracer.observers.data.digest import readable
from debugtracer.observers.data.smooth_axes import FEWEST, Layout, restored_layout
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.misread_axes import MisreadAxes
from debugtracer.trace.number import number

LOOKS = 2  # inputs of one network that must agree (ours)
STEPS = 3  # inspected steps in which inputs are looked at (ours)


class MisreadAxesObserver(Observer):
    """On the CPU alone, in the first inspected steps; 50 ms for two dozen small pictures; keeps nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: dict[tuple[str, tuple[int, ...]], list[Layout]] = {}
        """Networks by name and the shape of a row, with what was found in each step."""
        self.now: set[tuple[str, tuple[int, ...]]] = set()
        """Those that were looked at in this step."""
        self.steps = 0

    def reset(self) -> None:
        self.seen.clear()
        self.now.clear()
        self.steps = 0

    def missed(self) -> None:
        """Forget which networks were looked at in a step that was not seen to its end."""
        self.now.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the first tensor of a call in training; one call a step of each network."""
        if not torch.is_grad_enabled() or not module.training or not any(True for _ in module.parameters()):
            return
        given = next((one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), None)
        if given is None or given.grad_fn is not None:  # what a layer computed need not be smooth
            return
        if given.is_nested or given.dim() < 3 or len(given) < FEWEST or not is_values(given):
            return
        place = type(module).__name__, tuple(given.shape[1:])
        if place in self.now:
            return
        self.now.add(place)
        leaf = self.on_cpu(given)
        found = restored_layout(leaf.detach()) if leaf is not None else None
        known = self.seen.setdefault(place, [])
        if found is not None and (not known or (known[0].read, known[0].sizes) == (found.read, found.sizes)):
            known.append(found)
            if len(known) == LOOKS:
                self.emit(module, given, found)

    def on_cpu(self, given: Tensor) -> Tensor | None:
        """The input, or the tensor of the batch that was moved to a device."""
        if readable(given):
            return given
        hit = self.run.batches.find(given)
        leaf = dict(hit[0].tensors()).get(hit[1]) if hit is not None else None
        return leaf if leaf is not None and readable(leaf) and leaf.shape == given.shape and is_values(leaf) else None

    def emit(self, module: nn.Module, given: Tensor, found: Layout) -> None:
        """Write it down with the line that gave the values their sizes."""
        frames = user_frames()
        ways = guarded("misread_axes.ways")(self.ways)(given, frames, bound_name(module)) or ()
        self.run.emit(
            MisreadAxes(
                ref=self.run.ref("forward", self.run.iteration), root=type(module).__name__, shape=tuple(given.shape),
                read=found.read, sizes=found.sizes, present=number(found.present), restored=number(found.restored),
                frame=view_line(ways), made=made_first(ways), call_frame=frames[0] if frames else None,
            )
        )  # fmt: skip

    def ways(self, given: Tensor, frames: tuple[Frame, ...], name: str) -> tuple[Link, ...]:
        """The lines that made an input: those of the dataset it comes from, or of the loop."""
        hit = self.run.batches.find(given)
        if hit is not None:
            return hit[0].loader.origin(hit[1])
        return tuple(argument_origin(frames, (name,), "", 0)) if name else ()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Count the steps; leave after the first ones."""
        self.steps += bool(self.now)
        self.now.clear()
        if self.steps >= STEPS:
            self.run.unsubscribe(self.left, self.step_closed)


def is_values(tensor: Tensor) -> bool:
    """Whether it holds numbers that may be smooth."""
    return tensor.is_floating_point() or tensor.dtype is torch.uint8
