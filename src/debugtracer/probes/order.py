"""Follows what belongs to one update, call by call: zero_grad, forward, backward, unscale, clip, step, schedule, for each optimizer on its own."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.probes.frames import RawFrames, raw_frames
from debugtracer.probes.gradient_use import GradientUse
from debugtracer.probes.lines import first
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.taker import Taker
from debugtracer.recorder.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.order import Call, NoStep, StepOrder
from debugtracer.trace.number import number

FIRST = 3  # updates of each optimizer that are followed (CHECKS 6.3); then those of inspected steps
MOST_CALLS = 64  # calls of one update that are kept (ours): an accumulation over more is cut
MOST_OPTIMIZERS = 64  # followed (ours)
NAMED = 4  # stale parameters named as evidence
UNSTEPPED = 50  # backwards without a step that are news (CHECKS 3.3)
MADE_SMALLER = ("DivBackward", "MulBackward")


class Course:
    """The calls of one optimizer since its last update."""

    def __init__(self, use: GradientUse, frame: Frame | None) -> None:
        self.use = use
        self.frame = frame
        """Where the user built the optimizer."""
        self.held: frozenset[int] = frozenset()
        """Its parameters, for the end of the run, when it may be gone."""
        self.calls: list[Call] = []
        self.armed = False
        """Its last update was followed, so the next one is."""
        self.whole = True
        """Every call since the last update was seen."""
        self.scaled = False
        self.backwards = 0
        self.zeroed = 0
        self.last_backward: RawFrames = ()
        self.told = 0
        self.chased = 0
        """Updates running that were followed only because the one before was stale."""

    def add(self, call: Call) -> None:
        """One more call."""
        if len(self.calls) < MOST_CALLS:
            self.calls.append(call)


class OrderTaker(Taker):
    """Compares identities and versions of gradients; a value is read only where a used gradient still stands."""

    def __init__(self) -> None:
        super().__init__()
        self.courses: ById[Optimizer, Course] = ById()
        self.known: list[Course] = []
        self.scaler: Any = lambda: None
        self.scaling = False
        """A scaler has multiplied a loss since the last backward; the loss itself may be gone by then."""
        self.forwards = False

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.courses.clear()
        self.known.clear()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Followed from here on."""
        self.course_of(optimizer)

    def course_of(self, optimizer: Optimizer) -> Course:
        """What is known of an optimizer."""
        course = self.courses.get(optimizer)
        if course is None:
            course = self.courses[optimizer] = Course(GradientUse(optimizer, len(self.known)), self.desk.built_at(optimizer))
            if len(self.known) < MOST_OPTIMIZERS:
                self.known.append(course)
        return course

    def followed(self) -> list[Course]:
        """Optimizers whose calls are noted now; the others miss this call."""
        chosen = []
        early = self.desk.iteration < UNSTEPPED
        for optimizer, course in list(self.courses.items()):
            if self.desk.is_foreign(optimizer):
                continue
            if self.desk.inspecting or course.armed or (course.use.steps < FIRST and (course.use.steps or early)):
                chosen.append(course)
            else:
                course.whole = False
        return chosen

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """A forward with a graph; noted with the backward that follows."""
        self.forwards = self.forwards or torch.is_grad_enabled()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Gradients that were used and still stand; whether the loss is a scaled one."""
        for course in list(self.courses.values()):
            course.use.before = {}
        followed = self.followed()
        raw = raw_frames(1) if followed else ()
        for course in followed:
            course.use.backward_begins(raw, self.desk.iteration)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Whose gradients it wrote."""
        raw = raw_frames(1)
        frame = first(raw)
        loss = self.desk.recorder.unscaled(losses[0]) if losses else None
        scaled, self.scaling = self.scaling, False
        divided = loss is not None and is_divided(loss)
        for optimizer, course in list(self.courses.items()):
            if self.desk.is_foreign(optimizer):
                continue
            if course.use.before:
                live = course.use.backward_ended()
                if self.forwards:
                    course.add(Call(word="forward"))
                course.add(Call(word="backward", frame=frame, live=live, scaled=scaled, divided=divided))
                course.scaled = scaled if live else course.scaled
            else:
                live = not course.use.steps and any(p.grad is not None for p in course.use.held()[:8])
            if live and not course.use.steps:
                self.count_unstepped(course, raw)
        self.forwards = False

    def count_unstepped(self, course: Course, raw: RawFrames) -> None:
        """Gradients for an optimizer that has never stepped."""
        course.backwards += 1
        course.last_backward = raw
        course.held = course.held or frozenset(id(p) for p in course.use.held())
        if course.backwards % UNSTEPPED == 0:
            self.tell_unstepped(course)

    def tell_unstepped(self, course: Course) -> None:
        """Unless another optimizer that does step holds its parameters."""
        if any(course.held & (c.held or {id(p) for p in c.use.held()}) for c in self.known if c.use.steps):
            return
        course.told = course.backwards
        self.desk.tell(
            NoStep(
                ref=self.desk.ref("update", self.desk.iteration - 1),
                optimizer=course.use.number,
                kind=course.use.kind,
                frame=course.frame,
                backward_frame=first(course.last_backward),
                backwards=course.backwards,
                zeroed=course.zeroed,
            )
        )

    def zeroed(self, owner: Any) -> None:
        """The gradients of this optimizer or module are gone, or 0."""
        followed = self.followed()
        asking = [c for c in list(self.courses.values()) if c.use.used or not c.use.steps or any(c is f for f in followed)]
        if not asking:
            return
        ids = {id(p) for p in (parameters(owner) if isinstance(owner, Optimizer) else owner.parameters())}
        frame = first(raw_frames(1))
        for course in asking:
            mine = ids & {id(p) for p in course.use.held()}
            if mine:
                course.use.clear(mine)
                course.zeroed += not course.use.steps and course.backwards > 0
                course.add(Call(word="zero_grad", frame=frame, live=bool(course.use.fresh)))

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """What it clipped, and whether there was anything to clip."""
        followed = self.followed()
        if not followed:
            return
        given = [args[0]] if isinstance(args[0], Tensor) else list(args[0])
        ids = {id(p) for p in given}
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value"))
        measured = norm if isinstance(norm, Tensor) and norm.device.type == "cpu" else None
        scale = getattr(self.scaler(), "_scale", None)
        for course in followed:
            if ids & {id(p) for p in course.use.held()}:
                course.use.clipped(ids)
                course.add(
                    Call(
                        word="clip",
                        frame=first(raw_frames(1)),
                        live=bool(course.use.fresh),
                        scaled=course.scaled and bool(course.use.fresh),
                        scale=number(float(scale)) if course.scaled and isinstance(scale, Tensor) else None,
                        limit=None if limit is None else number(float(limit)),
                        norm=None if measured is None else number(float(measured.item())),
                    )
                )

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Unscaling, asked for by the program."""
        self.scaler = weakref.ref(scaler)
        self.scaling = self.scaling or word == "scale"
        if word == "unscale":
            course = self.course_of_any(args[0] if args else kwargs.get("optimizer"))
            if course is not None:
                course.scaled = False
                course.add(Call(word="unscale", frame=first(raw_frames(1)), live=bool(course.use.fresh)))

    def course_of_any(self, optimizer: Any) -> Course | None:
        """The course of an optimizer or of a wrapper around one."""
        inner = getattr(optimizer, "optimizer", optimizer)
        return self.courses.get(inner) if isinstance(inner, Optimizer) else None

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A schedule of one of the optimizers."""
        course = self.course_of_any(scheduler)
        if course is not None and any(course is c for c in self.followed()):
            course.add(Call(word="schedule", frame=first(raw_frames(1)), live=bool(course.use.fresh)))

    def step_ended(self, optimizer: Optimizer) -> None:
        """What the update has used."""
        course = self.course_of(optimizer)
        if not any(course is c for c in self.followed()):
            course.use.used.clear()
            course.use.steps += 1
            return
        stale = course.use.stale()
        if course.whole:
            self.desk.tell(self.told(course, optimizer, stale))
        course.use.took()
        course.chased = course.chased + 1 if stale and not self.desk.inspecting else 0
        self.restart(course, armed=(bool(stale) and course.chased < FIRST) or course.use.steps < FIRST or self.desk.inspecting)

    def told(self, course: Course, optimizer: Optimizer, stale: list[Tensor]) -> StepOrder:
        """The calls, and the gradients this update had no right to."""
        names = self.desk.names() if stale else {}
        held = course.use.held()
        others = [c.use for c in self.courses.values() if c is not course and c.use.used]
        shared = sum(any(use.used.get(id(p), 0) == (id(p.grad), p.grad._version) for use in others) for p in held if p.grad is not None)
        return StepOrder(
            ref=self.desk.ref("update", self.desk.iteration - 1),
            optimizer=course.use.number,
            kind=course.use.kind,
            number=course.use.steps,
            calls=tuple(course.calls),
            empty=course.use.empty(),
            stale=tuple(names.get(id(p), f"parameter of shape {tuple(p.shape)}") for p in stale[:NAMED]),
            stale_count=len(stale),
            grads=sum(p.grad is not None for p in held),
            stale_frame=first(course.use.frames) if stale else None,
            stale_iteration=course.use.iteration,
            shared=shared,
            held=len(held),
            frame=course.frame,
        )

    def step_closed(self, optimizer: Optimizer) -> None:
        """A step that a scaler skipped: its calls are over too, and its gradients were not used."""
        course = self.course_of(optimizer)
        if course.calls:
            course.use.fresh.clear()
            course.use.steps += 1
            self.restart(course, armed=course.armed)

    def restart(self, course: Course, armed: bool) -> None:
        """The calls of the next update begin."""
        course.calls = []
        course.armed = armed
        course.whole = True
        course.scaled = False

    def ended(self) -> None:
        """Optimizers that never stepped."""
        for course in self.known:
            if not course.use.steps and course.backwards > course.told:
                self.tell_unstepped(course)


def is_divided(loss: Tensor) -> bool:
    """The loss, or what a scaler multiplied, is a quotient or a product."""
    made = loss.grad_fn
    return made is not None and made.name().startswith(MADE_SMALLER)
