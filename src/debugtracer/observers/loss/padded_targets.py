"""Looks for padding among the targets of a cross-entropy: an id that ends all rows and that the program treats as
padding."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames, user_frames
from debugtracer.callsites.origins.argument_origin import object_built
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.padded_targets import PaddedTargets
from debugtracer.trace.number import number

FLATTENERS = frozenset({"flatten", "reshape", "ravel", "view"})
MOST_FLATTENED = 8  # copies of ids whose rows are remembered until the next loss (ours)
COMPARISONS = frozenset({"eq", "ne", "__eq__", "__ne__", "not_equal"})
SHORTEST = 4  # positions of a row (ours)
MOST_ROWS = 0.9  # share of rows that hold the id at their end alone, if at all (ours)
FEWEST_ROWS = 0.5  # share of rows that end in it: the longest of a batch have no padding (ours)
ELEMENTS = 2**20  # targets that are looked at (ours)
STEPS = 3  # inspected steps in which it looks (ours)


class PaddedTargetsObserver(Observer):
    """Reads integer targets on the host, in the first inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.compared: dict[int, RawFrames] = {}
        """Ids that integer tensors were compared with -> the line."""
        self.flattened: list[tuple[weakref.ref[Tensor], torch.Size]] = []
        """Flat copies of ids, and the rows they were made of."""
        self.steps: set[int] = set()

    def reset(self) -> None:
        self.compared.clear()
        self.flattened.clear()
        self.steps.clear()

    @of_functions(COMPARISONS, INDEXED, FLATTENERS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a comparison of ids, look at the targets of a loss over classes."""
        name = getattr(function, "__name__", "")
        if not torch.is_grad_enabled() or not (name in COMPARISONS or name in INDEXED or name in FLATTENERS):
            return
        if name in FLATTENERS:
            if is_ids(args[0]) and isinstance(output, Tensor) and output.dim() == 1:
                self.flattened = [*self.flattened[1 - MOST_FLATTENED :], (weakref.ref(output), args[0].shape)]
            return
        if name in COMPARISONS:
            if len(args) > 1 and type(args[1]) is int and is_ids(args[0]):
                self.compared.setdefault(args[1], raw_frames(1))
            return
        self.steps.add(self.run.step)
        if len(self.steps) > STEPS:
            self.run.unsubscribe(self.called)
            return
        given = arguments(name, args, kwargs)
        if str(given.get("reduction", "mean")) != "none":
            self.look(name, given)
        self.flattened.clear()

    def look(self, name: str, given: dict[str, Any]) -> None:
        """Emit rows that end in padding which counts."""
        target = rows_of(self.unflattened(given["target"]))
        found = ending(target) if target is not None else None
        if found is None and target is not None and target.shape[1] > 1 and target.shape[0] >= SHORTEST:
            target = target.t()  # time may come first
            found = ending(target)
        if target is None or found is None:
            return
        pad, share = found
        weight = given.get("weight")
        if given.get("ignore_index") == pad or (isinstance(weight, Tensor) and not float(weight.detach()[pad])):
            return
        known, raw = self.padding_by(pad)
        ignored = given.get("ignore_index")
        absent = type(ignored) is int and ignored >= 0 and not bool((target == ignored).any())
        if not (known or absent):
            return
        frames, running = frames_of(raw), running_module()
        self.run.emit(
            PaddedTargets(
                ref=self.run.ref(), loss=name, frame=self.run.here(),
                module=path_of(running, self.run.modules()) if running is not None else None, pad=pad,
                share=number(share), rows=int(target.shape[0]), known_by=known,
                ignores_none=ignored if absent else None, known_frame=frames[0] if frames else None,
                built=object_built(user_frames(), type(running).__name__) if running is not None else None,
                ignores_end=ignored if type(ignored) is int and ends_before(target, pad, ignored) else None,
            )
        )  # fmt: skip

    def unflattened(self, target: Tensor) -> Tensor:
        """The targets with the rows that they had before they were copied flat."""
        shape = next((shape for made, shape in self.flattened if made() is target), None)
        return target if shape is None else target.reshape(shape)

    def padding_by(self, pad: int) -> tuple[str, RawFrames]:
        """How the program says that this id is padding; nothing where it does not."""
        if pad in self.compared:
            return "a comparison", self.compared[pad]
        for root in self.run.modules():
            for module in root.modules():
                if isinstance(module, nn.Embedding) and module.padding_idx == pad:
                    return f"Embedding(padding_idx={pad})", ()
        return "", ()


def is_ids(value: Any) -> bool:
    """Whether this may be a batch of token ids."""
    whole = isinstance(value, Tensor) and not value.is_floating_point() and value.dtype != torch.bool
    return whole and value.dim() >= 2


def rows_of(target: Tensor) -> Tensor | None:
    """The targets as (rows, positions) on the host, seen through a view that flattened them; None for others."""
    if target.dim() == 1 and target._base is not None and target._base.numel() == target.numel():
        target = target._base
    fits = target.dim() == 2 and target.shape[0] > 1 and target.shape[1] >= SHORTEST
    plain = target.device.type == "cpu" and not target.is_floating_point() and target.numel() <= ELEMENTS
    return target.detach() if fits and plain else None


def ending(target: Tensor) -> tuple[int, float] | None:
    """The id that ends most rows, at different places, and stands nowhere else in them; and its share."""
    pad = int(target[:, -1].mode().values)
    tail = (target.flip(1) == pad).long().cumprod(1).sum(1)
    ends = tail > 0
    clean = (target == pad).sum(1) == tail
    few = float(clean.double().mean()) < MOST_ROWS or float(ends.double().mean()) < FEWEST_ROWS
    if few or int(tail[ends].unique().numel()) < 2:
        return None
    return pad, float(tail.sum()) / target.numel()


def ends_before(target: Tensor, pad: int, token: int) -> bool:
    """Whether an id stands once in most rows, and right before the padding where there is any: it ends the texts."""
    length = (target != pad).sum(1)
    last = target.gather(1, (length - 1).clamp(min=0)[:, None])[:, 0]
    once = (target == token).sum(1) == 1
    return token != pad and float(((last == token) & once).double().mean()) >= MOST_ROWS
