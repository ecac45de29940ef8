"""Follows class labels that are filled with one number and then written in places, up to the loss."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.filled_target import FilledTarget
from debugtracer.trace.facts.loss_call import INDEXED

ZEROS = frozenset({"zeros", "zeros_like", "new_zeros"})
FILLS = frozenset({"full", "full_like", "new_full"}) | ZEROS
WRITES = frozenset({"__setitem__", "index_put_"})
MOST = 32  # tensors followed in a step (ours)
ELEMENTS = 2**20  # of one (ours)


class Filled:
    """One such tensor, the number it was filled with, and where labels were written since."""

    def __init__(self, tensor: Tensor, fill: int, raw: RawFrames) -> None:
        self.tensor: weakref.ref[Tensor] = WeakRef(tensor)
        self.fill, self.raw = fill, raw
        self.written: Tensor | None = None


class FilledTargetsObserver(Observer):
    """Keeps a mask for a tensor that is written; reads labels at the loss, in inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, Filled] = {}
        """By where they lie: a view of one is met at the loss."""

    def reset(self) -> None:
        self.known.clear()

    def missed(self) -> None:
        """Forget what was filled in a step that was not seen to its end."""
        self.known.clear()

    @of_functions(FILLS, WRITES, INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a filled tensor, what is written to it, and the loss that gets it."""
        name = getattr(function, "__name__", "")
        if name in FILLS:
            self.filled(name, args, kwargs, output)
        elif self.known and name in WRITES and len(args) > 2:
            self.wrote(*args[:3])
        elif self.known and name in INDEXED and torch.is_grad_enabled():
            given = arguments(name, args, kwargs)
            if given["reduction"] != "none":  # else the program may mask the losses itself
                self.asked(name, given["input"], given["target"], given.get("ignore_index", -100))

    def filled(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember a tensor of whole numbers that are all the same."""
        fill = 0 if name in ZEROS else args[1] if len(args) > 1 else kwargs.get("fill_value")
        if type(fill) is not int or not isinstance(output, Tensor) or output.dtype is not torch.int64:
            return
        if is_dense(output) and 1 < output.numel() <= ELEMENTS and len(self.known) < MOST:
            self.known[output.data_ptr()] = Filled(output, fill, raw_frames(2))

    def wrote(self, target: Any, places: Any, values: Any) -> None:
        """Mark the places that a tensor of places names; a write by slices is padding, or a whole row."""
        one = self.found(target)
        tensors = places if isinstance(places, (tuple, list)) else (places,)
        by_tensor = all(isinstance(p, Tensor) for p in tensors) and len(tensors) > 0
        if one is None or not by_tensor or not isinstance(values, Tensor) or target.shape != self.shape(one):
            return
        with torch.no_grad():
            if one.written is None:
                one.written = torch.zeros(target.shape, dtype=torch.bool, device=target.device)
            one.written[places] = True

    def found(self, tensor: Any) -> Filled | None:
        """What is known of a tensor, or of the one that it is a view of."""
        if not isinstance(tensor, Tensor) or not is_dense(tensor):
            return None
        one = self.known.get(tensor.data_ptr())
        return one if one is not None and one.tensor() is not None else None

    def shape(self, one: Filled) -> torch.Size | None:
        """The shape of a filled tensor; None for one that is gone."""
        tensor = one.tensor()
        return tensor.shape if tensor is not None else None

    def asked(self, loss: str, scores: Any, target: Any, ignored: int) -> None:
        """Count what was written and is the number of those that were not."""
        one = self.found(target)
        whole = one.tensor() if one is not None else None
        if one is None or whole is None or one.written is None or target.numel() != whole.numel():
            return
        if one.fill == ignored or not isinstance(scores, Tensor) or scores.dim() < 2:
            return
        with torch.no_grad():
            mask = one.written
            labels = whole[mask]
            at_an_end = mask.dim() > 1 and (is_prefix(mask) or is_prefix(mask.flip(-1)))
            if at_an_end or not labels.numel() or bool(mask.all()):
                return
            same, kinds = int((labels == one.fill).sum()), int(labels.unique().numel())
        if kinds > 1 and 0 <= one.fill < scores.shape[1]:
            filled, stack = frames_of(one.raw), frames_of(raw_frames(2))
            links = guarded("filled_targets.made")(argument_origin)(filled, FILLS, "fill_value", 1) or ()
            self.run.emit(
                FilledTarget(
                    ref=self.run.ref(), fill=one.fill, classes=int(scores.shape[1]), loss=loss,
                    filled=mask.numel() - labels.numel(), written=labels.numel(), same=same,
                    frame=filled[0] if filled else None, loss_frame=stack[0] if stack else None,
                    made=made_first(links),
                )
            )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was filled in the step."""
        self.known.clear()


def is_prefix(mask: Tensor) -> bool:
    """Whether each row is written from its start on, as texts are before their padding."""
    return bool((mask[..., 1:] <= mask[..., :-1]).all())
