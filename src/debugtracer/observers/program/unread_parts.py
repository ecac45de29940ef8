"""Finds schedulers, samplers, generators and class weights that the program builds and that no line of it reads."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import Sampler

from debugtracer.callsites.assigned_value import assigned_value
from debugtracer.callsites.attribute_lines import attribute_written, is_attribute_read, stored_attribute
from debugtracer.callsites.dead_stores import DeadStore, dead_stores
from debugtracer.callsites.frame_locals import local, locals_of
from debugtracer.callsites.frames import as_frame, user_frames
from debugtracer.callsites.origins.argument_origin import object_built
from debugtracer.callsites.program_stack import program_stack
from debugtracer.errors import guarded
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.observed_run import FIRST_STEPS, ObservedRun
from debugtracer.observers.observer import Observer, always, inspected, of_functions
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.unread_part import UnreadPart

ORDERED = frozenset({"RandomSampler", "SequentialSampler"})
"""Samplers that a DataLoader makes itself."""
FEWEST, MOST = 2, 10_000  # class weights (ours)


class KeptScheduler(NamedTuple):
    """A scheduler of a line; the next one of the same line takes its place."""

    scheduler: WeakRef[LRScheduler]
    kind: str
    name: str
    attribute: bool
    """The name is that of an attribute, which was not looked for yet."""
    step: int
    """In which the first of them was built."""
    stepped: bool = False
    """Or it may be, for a line reads the attribute."""


class UnreadPartsObserver(Observer):
    """Looks at the functions that wait for a backward of the first steps, and at their locals only where they give a
    name a value that is read on no path."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.known: set[CodeType] = set()
        self.schedulers: dict[Frame, KeptScheduler] = {}
        """By the line that built them: those that no line can step by their name."""
        self.run.unsubscribe(self.scheduled)
        self.unweighted: dict[int, Frame | None] = {}
        """By the number of classes: the line of a loss without weights."""

    @inspected
    @of_functions(INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the classes of a loss that has no weights."""
        if getattr(function, "__name__", "") in INDEXED and self.run.state.step < FIRST_STEPS:
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            scores = args[0] if args else kwargs.get("input")
            if weight is None and isinstance(scores, Tensor) and scores.dim() > 1:
                self.note_loss(scores.shape[1])

    def note_loss(self, classes: int) -> None:
        """Note the line that built the loss that runs, else the one that asks for it; once for each number of
        classes."""
        if classes not in self.unweighted:
            stack, running = user_frames(2), running_module()
            built = guarded("unread_parts.built")(object_built)(stack, type(running).__name__) if running else None
            self.unweighted[classes] = built or next(iter(stack), None)
            self.look_at_owners(classes)

    def look_at_owners(self, classes: int) -> None:
        """Tell class weights that an object on the stack holds under an attribute that nobody reads."""
        for frame in program_stack(sys._getframe(1)):
            code = frame.f_code
            owner = locals_of(frame).get(code.co_varnames[0]) if code.co_argcount else None
            for name, value in list(getattr(owner, "__dict__", {}).items()):
                if is_weights(value) and len(value) == classes and not is_attribute_read(name):
                    at = attribute_written(name)
                    if at is not None:
                        self.run.emit(
                            UnreadPart(
                                ref=self.run.ref(), name=name, frame=at, part="class weights",
                                kind=type(value).__name__, count=classes, without=self.unweighted[classes],
                            )
                        )  # fmt: skip

    def scheduler_built(self, scheduler: Any) -> None:
        """Keep one that its line gives a name, or an attribute, that nobody may read."""
        for frame in program_stack(sys._getframe(1)):
            code, at = frame.f_code, frame.f_lasti
            if code.co_argcount and local(frame, code.co_varnames[0]) is scheduler:
                continue  # its own constructor
            behind = [store.name for store in dead_stores(code) if store.made_at == at]
            attribute = "" if behind else stored_attribute(code, at)
            if behind or attribute:
                self.keep(
                    scheduler, behind[0] if behind else attribute, as_frame(code, frame.f_lineno), bool(attribute)
                )
            return  # what called that is given something else, as far as one sees

    def keep(self, scheduler: Any, name: str, frame: Frame, attribute: bool = False) -> None:
        """Listen whether one is stepped."""
        if isinstance(scheduler, LRScheduler) and getattr(scheduler, "_step_count", 2) < 2:
            made = KeptScheduler(WeakRef(scheduler), type(scheduler).__name__, name, attribute, self.run.state.step)
            known = self.schedulers.setdefault(frame, made)
            if not known.stepped and known is not made:
                self.schedulers[frame] = made._replace(step=known.step)
            self.run.subscribe(self.scheduled)

    @always
    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note one that is stepped after all; not even called where none is kept."""
        for frame, one in self.schedulers.items():
            if one.scheduler() is scheduler:
                self.schedulers[frame] = one._replace(stepped=True)
        if all(one.stepped for one in self.schedulers.values()):
            self.run.unsubscribe(self.scheduled)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look at the loop and what called it, once each."""
        if self.run.state.step >= FIRST_STEPS:
            return
        for frame in program_stack(sys._getframe(1)):
            if frame.f_code not in self.known:
                self.known.add(frame.f_code)
                self.look_at(frame)
        for line, one in list(self.schedulers.items()):  # at the end the script is no module any more
            if one.attribute and not one.stepped:
                self.schedulers[line] = one._replace(attribute=False, stepped=is_attribute_read(one.name))

    def look_at(self, frame: FrameType) -> None:
        """Tell what a function holds under names that nobody reads."""
        due = [store for store in dead_stores(frame.f_code) if store.offset < frame.f_lasti <= store.until]
        values = locals_of(frame) if due else {}
        for store in due:
            value, at = values.get(store.name), as_frame(frame.f_code, store.line)
            if isinstance(value, LRScheduler):
                self.keep(value, store.name, at)
            elif store.alone and (part := self.part_of(value, frame.f_code, store)):
                self.run.emit(
                    UnreadPart(
                        ref=self.run.ref(), name=store.name, frame=at, part=part, kind=type(value).__name__,
                        count=len(value) if is_weights(value) else 0, without=self.without(part, value),
                    )
                )  # fmt: skip

    def without(self, part: str, value: Any) -> Frame | None:
        """The line of what goes without it: the loss, or the loader of the batch where that made its own sampler."""
        batch = self.run.batches.last()
        if part == "sampler" and batch is not None and batch.loader.sampler in ORDERED:
            return batch.loader.frame
        return self.unweighted[len(value)] if is_weights(value) else None

    def part_of(self, value: Any, code: CodeType, store: DeadStore) -> str:
        """What a value is; nothing for what this line may only have been given."""
        if isinstance(value, (Sampler, torch.Generator)):
            made = assigned_value(code.co_filename, store.line, store.name)
            if made is not None and type(value).__name__ in made.calls:
                return "sampler" if isinstance(value, Sampler) else "generator"
        return "class weights" if is_weights(value) and len(value) in self.unweighted else ""

    def ended(self) -> None:
        """Emit the schedulers that were never stepped."""
        for frame, one in self.schedulers.items():
            if not one.stepped and not one.attribute:
                self.run.emit(
                    UnreadPart(
                        ref=self.run.ref(), name=one.name, frame=frame, part="scheduler", kind=one.kind,
                        count=self.run.state.step - one.step,
                    )
                )  # fmt: skip


def is_weights(value: Any) -> TypeGuard[Tensor | np.ndarray[Any, Any]]:
    """Tell a row of numbers, not whole and not all the same, from all else."""
    if isinstance(value, np.ndarray):
        value = torch.as_tensor(value) if value.dtype.kind == "f" else None
    if not isinstance(value, Tensor) or not value.is_floating_point() or value.layout != torch.strided:
        return False
    if value.is_nested or value.dim() != 1 or not FEWEST <= len(value) <= MOST or value.requires_grad:
        return False
    with torch.no_grad():
        return bool((value > 0).all() and (value != value[0]).any() and (value != value.round()).any())
