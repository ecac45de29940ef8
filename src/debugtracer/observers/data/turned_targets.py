"""Compares, in the first inspected steps, the pixels of pictures with the map that a loss asks for."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.order_origin import apart, order_of, placed
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.errors import guarded
from debugtracer.observers.data.turned_maps import Turned, is_map_of, turned
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.rows_taken import COMPARED
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.turned_target import TurnedTarget

LOOKS = 3  # inspected backwards that are looked at (ours)
AGREED = 2  # of them with the same turn (ours)
MOST_BYTES = 2**26  # of pictures (ours)


class TurnedTargetsObserver(Observer):
    """A few hundred pixels of a batch of pictures, on the host; nothing of it is called after the first steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.picture: weakref.ref[Tensor] | None = None
        """What the first model of the step was given."""
        self.wanted: list[tuple[str, Tensor, RawFrames]] = []
        self.hows: list[str] = []
        self.looks = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Let go of the step in flight."""
        self.picture, self.wanted = None, []

    @of_functions(COMPARED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the target of a loss."""
        name = getattr(function, "__name__", "")
        if name in COMPARED and torch.is_grad_enabled() and len(self.wanted) < 2:
            target = arguments(name, args, kwargs)["target"]
            self.wanted.append((name, target.detach(), raw_frames(1)))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the pictures that a model is given."""
        first = next((one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), None)
        if first is not None and self.picture is None and first.dim() == 4 and torch.is_grad_enabled():
            self.picture = weakref.ref(first)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Compare the pictures with the map of the only loss."""
        picture, wanted = self.picture() if self.picture is not None else None, self.wanted
        self.forget()
        self.looks += 1
        if picture is not None and len(wanted) == 1 and picture.nbytes <= MOST_BYTES:
            name, target, raw = wanted[0]
            if is_map_of(target, picture):
                with torch.no_grad(), torch.device("cpu"):
                    generator = torch.Generator().manual_seed(self.looks)
                    found = turned(picture.detach().cpu(), target.cpu(), generator)
                self.hows.append(found.how if found is not None else "")
                if found is not None and self.hows.count(found.how) == AGREED == len(self.hows):
                    self.tell(found, picture, target, name, raw)
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)

    def tell(self, found: Turned, picture: Tensor, target: Tensor, name: str, raw: RawFrames) -> None:
        """Emit the turn with the line that makes it."""
        stack = frames_of(raw)
        ours = (*argument_origin(stack, (name,), "target", 1), *self.of_batch(target))
        lines = [*(order_of(links) for links in apart(ours, self.of_batch(picture))), placed(ours)]
        self.run.emit(
            TurnedTarget(
                ref=self.run.ref(), how=found.how, turned=round(found.turned, 4), present=round(found.present, 4),
                height=int(picture.shape[-2]), width=int(picture.shape[-1]),
                frame=next((line for line in lines if line is not None), None), made=made_first(ours),
                loss_frame=stack[0] if stack else None,
            )
        )  # fmt: skip

    def of_batch(self, tensor: Tensor) -> tuple[Link, ...]:
        """The lines that made a tensor of a loader's batch."""
        found = self.run.batches.find(tensor)
        return (guarded("turned_targets.origin")(found[0].loader.origin)(found[1]) or ()) if found is not None else ()
