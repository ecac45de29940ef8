"""Compares the masks of attention with the inputs of the model: does a mask let in the padding and shut out the
rest?"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.attended_padding import AttendedPadding
from debugtracer.trace.number import number

HEADS, DOT, FILL = "multi_head_attention_forward", "scaled_dot_product_attention", "masked_fill"
OUT = -1e4  # a score at or below it is none: exp of it is 0 in every dtype (ours)
DISTINCT = 4  # ids shut out: padding is one (ours)
COUNTED = 64  # ids counted (ours)
ELEMENTS = 2**20  # of a mask or an input that is looked at (ours)
MOST = 4  # masks of a step (ours)


class Mask(NamedTuple):
    """Which positions of (B, S) some query looks at."""

    function: str
    kept: Tensor
    module: str | None
    frame: Frame | None


class AttendedPaddingObserver(Observer):
    """Keeps masks of an inspected step until the model's call is over."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.masks: list[Mask] = []

    def reset(self) -> None:
        self.masks.clear()

    def missed(self) -> None:
        """Forget the masks of a step that was not seen to its end."""
        self.masks.clear()

    @of_functions(lambda name: name.rstrip("_") in (HEADS, DOT, FILL))
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a mask over keys."""
        name = getattr(function, "__name__", "")
        if name.rstrip("_") not in (HEADS, DOT, FILL) or not torch.is_grad_enabled() or len(self.masks) >= MOST:
            return
        with torch.no_grad():
            kept = kept_of(name.rstrip("_"), args, kwargs)
        if kept is None or kept.numel() > ELEMENTS or any(torch.equal(kept, one.kept) for one in self.masks):
            return
        running = running_module()
        path = path_of(running, self.run.modules()) if running is not None else None
        self.masks.append(Mask(name.rstrip("_"), kept, path, self.run.here()))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Compare them with what the model was given."""
        masks, self.masks = self.masks, []
        if not masks:
            return
        given = [t.detach() for t in tensors((args, kwargs)) if is_dense(t) and 0 < t.numel() <= ELEMENTS]
        with torch.no_grad():
            for mask in masks:
                told = next((said for t in given if (said := padding_alone(mask.kept, t)) is not None), None)
                if told is not None:
                    self.run.emit(
                        AttendedPadding(
                            ref=self.run.ref(), function=mask.function, kept=number(float(mask.kept.float().mean())),
                            value=told[0], shut=told[1], module=mask.module, frame=mask.frame,
                        )
                    )  # fmt: skip


def kept_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
    """The positions of (B, S) that a mask lets in, for some query and head; None without such a mask."""
    if name == HEADS:
        mask = inspect.signature(F.multi_head_attention_forward).bind(*args, **kwargs).arguments.get("key_padding_mask")
        inside = let_in(mask, says_out=True)
    elif name == DOT:
        inside = let_in(args[3] if len(args) > 3 else kwargs.get("attn_mask"), says_out=False)
    else:
        low = args[2] if len(args) > 2 else kwargs.get("value")
        mask = args[1] if len(args) > 1 else kwargs.get("mask")
        fills = isinstance(low, (int, float)) and low <= OUT and isinstance(args[0], Tensor) and args[0].dim() > 2
        inside = let_in(mask, says_out=True) if fills else None
    if inside is None or inside.dim() < 2 or min(inside.shape[0], inside.shape[-1]) < 2:
        return None
    kept = inside.flatten(1, -2).any(1) if inside.dim() > 2 else inside
    return None if bool(kept.all()) or not bool(kept.any(1).all()) else kept


def let_in(mask: Any, says_out: bool) -> Tensor | None:
    """A mask that is true where a score counts."""
    if not isinstance(mask, Tensor) or not is_dense(mask) or mask.numel() > ELEMENTS:
        return None
    if mask.dtype == torch.bool:
        return ~mask if says_out else mask
    return mask > OUT if mask.is_floating_point() else None


def padding_alone(kept: Tensor, given: Tensor) -> tuple[int | None, int] | None:
    """The id at all positions that are let in, and how many others are shut out; None where that is not so."""
    for one in oriented(given, kept.shape):
        inside, outside = one[kept.to(one.device)], one[~kept.to(one.device)]
        first = inside[0]
        if bool((inside != first).any()):
            continue
        alike = (outside == first).flatten(1).all(1) if one.dim() > 2 else outside == first
        kinds = min(len(outside[: COUNTED * 8].unique(dim=0)), COUNTED)
        if not bool(alike.any()) and kinds >= DISTINCT and at_one_end(kept):
            return (int(first) if first.dim() == 0 else None), kinds
    return None


def oriented(given: Tensor, shape: torch.Size) -> Iterator[Tensor]:
    """The input with rows first and positions second: ids, or vectors."""
    whole = not given.is_floating_point() and given.dtype != torch.bool and given.dim() == 2
    if whole or (given.is_floating_point() and given.dim() == 3):
        if given.shape[:2] == shape:
            yield given
        if given.shape[:2] == (shape[1], shape[0]):
            yield given.transpose(0, 1)


def at_one_end(kept: Tensor) -> bool:
    """Whether what is let in stands at the end of each row, or at its start, as padding does."""
    return bool((kept[:, 1:] >= kept[:, :-1]).all()) or bool((kept[:, 1:] <= kept[:, :-1]).all())
