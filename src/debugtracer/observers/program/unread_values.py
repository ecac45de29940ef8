"""Finds tensors that the program gives a name in each step and that no line of it reads."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeGuard

import torch
from torch import Tensor, nn

from debugtracer.callsites.assigned_value import Assigned, assigned_value
from debugtracer.callsites.dead_stores import DeadStore, dead_stores, first_read, rewritten
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.program_stack import program_stack
from debugtracer.observers.observed_run import FIRST_STEPS, ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.unread_value import UnreadValue
from debugtracer.trace.number import number

MOST_VALUES = 2**22  # values compared, once an assignment (ours)


class Sighting(NamedTuple):
    """A tensor under its name, the first time."""

    step: int
    value: WeakRef[Tensor]
    made: Assigned


class UnreadValuesObserver(Observer):
    """Looks at the code of the running functions in the first steps, and at their locals only where it gives a name a
    value that is read on no path."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.waiting: dict[CodeType, list[DeadStore]] = {}
        self.seen: dict[tuple[CodeType, DeadStore], Sighting] = {}

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the functions that run; those of an evaluation are left alone."""
        if self.run.state.step < FIRST_STEPS and torch.is_grad_enabled():
            self.look(sys._getframe(1))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look at the loop."""
        if self.run.state.step < FIRST_STEPS:
            self.look(sys._getframe(1))

    def look(self, frame: FrameType) -> None:
        """Look at the functions of the program on the stack."""
        for one in program_stack(frame):
            waiting = self.waiting.get(one.f_code)
            if waiting is None:
                waiting = self.waiting[one.f_code] = [store for store in dead_stores(one.f_code) if store.alone]
            if waiting:
                self.look_at(one, waiting)

    def look_at(self, frame: FrameType, waiting: list[DeadStore]) -> None:
        """Tell a tensor that is another one than in an earlier step."""
        due = [store for store in waiting if store.offset < frame.f_lasti <= store.until]
        values = locals_of(frame) if due else {}
        for store in due:
            value, key = values.get(store.name), (frame.f_code, store)
            if value is None:
                continue
            known = self.seen.get(key)
            if known is None:
                made = assigned_value(frame.f_code.co_filename, store.line, store.name)
                if made is None or not readable(value):
                    waiting.remove(store)
                    continue
                known = self.seen[key] = Sighting(self.run.state.step, WeakRef(value), made)
            if not readable(value):
                waiting.remove(store)
            elif known.step < self.run.state.step and known.value() is not value and self.is_due(frame, store, known):
                waiting.remove(store)
                self.judge(frame, store, known.made, values)

    def is_due(self, frame: FrameType, store: DeadStore, known: Sighting) -> bool:
        """Whether the value can be judged now: one that only has another name is, once that was given another value."""
        alias = known.made.names[0] if known.made.alias else ""
        return not alias or rewritten(frame.f_code, alias, store.offset, frame.f_lasti)

    def judge(self, frame: FrameType, store: DeadStore, made: Assigned, values: dict[str, Any]) -> None:
        """Emit it, with the like tensor that is read in its place."""
        value, code, at = values[store.name], frame.f_code, frame.f_lasti
        sources = {name: one for name in made.names if readable(one := values.get(name))}
        kept = {name: one for name, one in sources.items() if not rewritten(code, name, store.offset, at)}
        if any(same(one, value) for one in kept.values()) or is_constant(value):
            return  # a cast, a copy, another device; what a layer begins with
        how, like, share, line = "other", "", 0.0, None
        if made.alias:
            like = next((name for name, one in sources.items() if in_forward(values, code) and differ(value, one)), "")
            how, share = "kept", differ(value, sources[like]) if like else 0.0
        elif not made.look and not made.taken and not is_mask(value):
            like = next((name for name, one in kept.items() if name in store.live and differ(value, one)), "")
            line = first_read(code, like, store.offset) if like else None
            how, share = ("replaced", differ(value, sources[like])) if line else ("other", 0.0)
        if how == "other" and not value.requires_grad and self.of_batch(sources, values, code):
            like = next((name for name, one in values.items() if one is not value and is_rowwise(value, one)), "")
            how = "rows" if like and not made.taken else "other"
        if like or not (made.alias or made.look or made.taken):
            self.run.emit(
                UnreadValue(
                    ref=self.run.ref(), name=store.name, frame=as_frame(code, store.line), shape=tuple(value.shape),
                    how=how, like=like, like_frame=as_frame(code, line) if line else None, changed=number(share),
                )
            )  # fmt: skip

    def of_batch(self, sources: dict[str, Tensor], values: dict[str, Any], code: CodeType) -> bool:
        """Whether no result of the model went into a value, as far as one sees."""
        known = self.run.batches.find
        return in_forward(values, code) or all(known(one) is not None for one in sources.values())


def readable(value: Any) -> TypeGuard[Tensor]:
    """Tell a tensor of some numbers that can be compared from all else."""
    return isinstance(value, Tensor) and value.layout == torch.strided and not value.is_nested and value.numel() > 1


def in_forward(values: dict[str, Any], code: CodeType) -> bool:
    """Whether a function is a module's forward: a training_step knows the loop."""
    return (
        bool(code.co_argcount) and code.co_name == "forward" and isinstance(values.get(code.co_varnames[0]), nn.Module)
    )


def is_rowwise(value: Tensor, like: Any) -> bool:
    """Whether a tensor holds one number for each row of another (a loss of each row), or for each of its positions."""
    if not isinstance(like, Tensor) or like.layout != torch.strided or like.is_nested or value.numel() > MOST_VALUES:
        return False
    rows = value.dim() == 1 and value.is_floating_point() and like.requires_grad and like.shape == value.shape
    places = 1 < value.dim() <= like.dim() and like.shape[: value.dim()] == value.shape and value.shape[0] > 1
    return rows or places


def is_constant(value: Tensor) -> bool:
    """Whether all numbers of a tensor are the same."""
    with torch.no_grad():
        return value.numel() <= MOST_VALUES and bool((value == value.reshape(-1)[0]).all())


def is_mask(value: Tensor) -> bool:
    """Whether a tensor holds 0 and 1 alone."""
    with torch.no_grad():
        return value.numel() <= MOST_VALUES and bool(((value == 0) | (value == 1)).all())


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers, in whatever type, layout or place."""
    if one.numel() != other.numel() or one.numel() > MOST_VALUES or one.layout != torch.strided or one.is_nested:
        return False
    with torch.no_grad():
        flat, theirs = one.reshape(-1).float(), other.reshape(-1).to(one.device).float()
        return bool(torch.equal(flat, theirs))


def differ(value: Tensor, other: Tensor) -> float:
    """The share of values in which two tensors of one shape and type differ; 0 for others."""
    if other.layout != torch.strided or other.is_nested or (value.shape, value.dtype) != (other.shape, other.dtype):
        return 0.0
    if value.numel() > MOST_VALUES or value.device != other.device:
        return 0.0
    with torch.no_grad():
        return float(((value != other) & ~(value.isnan() & other.isnan())).float().mean())
