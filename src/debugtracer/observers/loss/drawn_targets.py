"""Follows random draws through an inspected step: is one of them a target and nothing else?"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.loss.loss_call import DIFFERENCES
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.drawn_target import DrawnTarget
from debugtracer.trace.facts.loss_call import ELEMENTWISE

DRAWS = frozenset({"randn", "randn_like", "rand", "rand_like", "normal"})
LOOKS_ONLY = frozenset({"__get__", "size", "dim", "requires_grad_"})
MOST = 64  # draws followed in a step (ours)


class Draw:
    """One draw, and what has used it."""

    def __init__(self, tensor: Tensor, name: str, raw: RawFrames) -> None:
        self.tensor, self.name, self.raw = weakref.ref(tensor), name, raw
        self.uses = 0
        self.loss = ""
        self.loss_raw: RawFrames = ()


class DrawnTargetsObserver(Observer):
    """Hears the functions of inspected steps; keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.draws: dict[int, Draw] = {}
        self.made: dict[int, tuple[WeakRef[Tensor], Draw]] = {}
        """What was computed of a draw and data alone: no use of it before it reaches the model or a prediction."""

    def reset(self) -> None:
        self.draws.clear()
        self.made.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a draw; count what uses one."""
        name = getattr(function, "__name__", "")
        if name in DRAWS and isinstance(output, Tensor) and not output.requires_grad:
            if len(self.draws) < MOST and output.numel() > 1:
                self.draws[id(output)] = Draw(output, name, raw_frames(1))
            return
        if self.draws and name not in LOOKS_ONLY:
            data = isinstance(output, Tensor) and not output.requires_grad and output.numel() > 1
            self.used(args, kwargs, name, output if data else None)

    def used(self, args: tuple[Any, ...], kwargs: dict[str, Any], name: str, data: Tensor | None = None) -> None:
        """Count a use of each draw among the arguments, or remember what was made of it where that is `data`."""
        given = [*args, *kwargs.values()]
        for value in given:
            draw = self.draw_in(value)
            if draw is None:
                if isinstance(value, (list, tuple)):
                    self.used(tuple(value), {}, "", data)
                continue
            if data is not None:
                if len(self.made) < MOST:
                    self.made[id(data)] = WeakRef(data), draw
                else:
                    draw.uses += 1
                continue
            draw.uses += 1
            compared = name in DIFFERENCES or name in ELEMENTWISE
            other = next((v for v in given if isinstance(v, Tensor) and v is not value), None)
            if (
                compared
                and value is draw.tensor()
                and torch.is_grad_enabled()
                and other is not None
                and other.requires_grad
            ):
                draw.loss, draw.loss_raw = name, raw_frames(2)

    def draw_in(self, value: Any) -> Draw | None:
        """The draw that a tensor is, or was made of."""
        draw = self.draws.get(id(value)) if isinstance(value, Tensor) else None
        if draw is not None and draw.tensor() is value:
            return draw
        made = self.made.get(id(value)) if isinstance(value, Tensor) else None
        return made[1] if made is not None and made[0]() is value else None

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Count a draw that goes into a module as used; what a criterion does with it is heard function by function."""
        if self.draws and next(iter(module.parameters()), None) is not None:
            self.used(args, {}, "")

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count one that was handed in by name."""
        if self.draws and kwargs and next(iter(module.parameters()), None) is not None:
            self.used((), kwargs, "")

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit a draw that was compared with a prediction, and not used otherwise."""
        if not self.draws:
            return
        for draw in self.draws.values():
            if draw.uses == 1 and draw.loss and self.run.inspecting:
                at, loss_at = frames_of(draw.raw), frames_of(draw.loss_raw)
                self.run.emit(
                    DrawnTarget(
                        ref=self.run.ref(), draw=draw.name, frame=at[0] if at else None, loss=draw.loss,
                        loss_frame=loss_at[0] if loss_at else None,
                    )
                )  # fmt: skip
        self.reset()
