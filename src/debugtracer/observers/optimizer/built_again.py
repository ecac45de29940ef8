"""Looks for optimizers and schedulers that a line builds again and again while the same training goes on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.observers.scheduler.scheduler_plan import horizon_of, plain, rates
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.built_again import BuiltAgain

MOST = 16  # lines that are followed (ours)
ELEMENTS = 256  # of one parameter, which are compared (ours)
TIMES = 4  # an optimizer is built before it is told: twice or three times is a restart that is meant (ours)
EACH_FEW = 8  # the same where a few updates lie between (ours)
FEW = 4  # updates, no more (ours)
CALM = 2  # times that nothing but updates has written the weights (ours)
LONGEST = 24  # times after which a line is no longer looked at (ours)
SCHEDULERS = 4  # of one line over one optimizer (ours)


class OptimizerLine:
    """A line that builds optimizers of some parameters with some rate; keeps none of them alive."""

    def __init__(self, optimizer: Optimizer, step: int) -> None:
        params = parameters(optimizer)
        self.optimizer, self.first, self.count = WeakRef(optimizer), WeakRef(params[0]), len(params)
        self.largest = WeakRef(max((p for p in params if p.requires_grad), key=Tensor.numel, default=params[0]))
        self.rates, self.kind = rates(optimizer), type(optimizer).__name__
        self.built, self.step, self.steps = 1, step, 0
        self.left: Tensor | None = None
        """Elements as the update left them after which the next optimizer is expected."""
        self.calm = 0
        self.stateful = self.over = False
        self.in_pass = True
        self.data: object = None

    def is_of(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer holds the same parameters, with the same rate, by the same method."""
        params = parameters(optimizer)
        same = self.first() is params[0] and self.count == len(params) and self.kind == type(optimizer).__name__
        return same and self.rates == rates(optimizer)

    def again(self, optimizer: Optimizer, step: int) -> None:
        """Take the next optimizer of the line."""
        largest = self.largest()
        if self.left is not None and largest is not None:
            self.calm += torch.equal(self.left, some(largest))
        self.left, self.optimizer = None, WeakRef(optimizer)
        self.built, self.steps, self.step = self.built + 1, step - self.step, step

    def updated(self, optimizer: Optimizer, step: int, batch: Any) -> None:
        """Keep what the update leaves after which, by the last time, the next optimizer is built."""
        largest = self.largest()
        if step + 1 - self.step != self.steps or largest is None:
            return
        self.left = some(largest)
        state = optimizer.state.get(largest, {})
        self.stateful = any(isinstance(v, Tensor) and v.numel() > 1 for v in state.values())
        data = None if batch is None or batch.loader.data is None else batch.loader.data()
        self.in_pass = self.in_pass and data is not None and self.data in (None, id(data))
        self.in_pass = self.in_pass and batch.number + 1 >= self.steps
        self.data = None if data is None else id(data)

    @property
    def told(self) -> bool:
        """Whether this has been seen often enough."""
        often = self.built >= (EACH_FEW if self.steps <= FEW else TIMES)
        return often and self.calm >= CALM and self.stateful and self.kind != "LBFGS"


class SchedulerLine:
    """A line that builds schedulers of one optimizer."""

    def __init__(self, scheduler: Any, optimizer: Optimizer, step: int) -> None:
        self.optimizer, self.scheduler = WeakRef(optimizer), WeakRef(scheduler)
        self.kind, self.rates = type(scheduler).__name__, rates(optimizer)
        self.built, self.step, self.steps = 1, step, 0
        self.calls = self.most = 0
        self.horizon, self.horizon_word = horizon_of(scheduler)

    def again(self, scheduler: Any, step: int) -> None:
        """Take the next scheduler of the line."""
        self.most, self.calls = max(self.most, self.calls), 0
        self.scheduler = WeakRef(scheduler)
        self.built, self.steps, self.step = self.built + 1, step - self.step, step

    @property
    def told(self) -> bool:
        """Whether none of them has come to where the rate moves, or has gone beyond its first call."""
        short = 2 * self.most <= self.horizon if self.horizon is not None else self.most == 1
        return self.built >= SCHEDULERS and self.most > 0 and short


class BuiltAgainObserver(Observer):
    """Hears constructors; updates and calls of schedulers only while a line has built a second one. Some elements are
    copied in a few of the steps before an optimizer is expected to be built again."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.optimizers: dict[RawFrames, OptimizerLine] = {}
        self.schedulers: dict[RawFrames, SchedulerLine] = {}
        run.unsubscribe(self.step_closed, self.scheduled)

    def reset(self) -> None:
        self.optimizers.clear()
        self.schedulers.clear()
        self.run.unsubscribe(self.step_closed, self.scheduled)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Compare with what its line built before."""
        raw = self.run.state.optimizers.get(optimizer)
        if raw is None or not parameters(optimizer):
            return
        known = self.optimizers.get(raw)
        if known is None or not known.is_of(optimizer):
            if known is not None or len(self.optimizers) < MOST:
                self.optimizers[raw] = OptimizerLine(optimizer, self.run.step)
            return
        if known.over or self.run.step == known.step:
            return
        known.again(optimizer, self.run.step)
        if known.told:
            self.tell("optimizer", known, frames_of(raw), calm=known.calm, in_pass=known.in_pass)
        known.over = known.told or known.built >= LONGEST
        self.listen()

    def listen(self) -> None:
        """Let updates be told while a line is looked at."""
        looked = any(known.built > 1 and not known.over for known in self.optimizers.values())
        (self.run.subscribe if looked else self.run.unsubscribe)(self.step_closed)

    def restored(self, word: str, owner: Any) -> None:
        """Leave a line whose optimizers are given the state of those before."""
        for known in self.optimizers.values():
            known.over = known.over or known.optimizer() is owner
        self.listen()

    @always
    def step_closed(self, optimizer: Optimizer) -> None:
        """Keep what an update leaves."""
        for known in self.optimizers.values():
            if known.built > 1 and not known.over and known.optimizer() is optimizer:
                known.updated(optimizer, self.run.step, self.run.batches.last())

    def scheduler_built(self, scheduler: Any) -> None:
        """Compare with what its line built before over the same optimizer."""
        optimizer, raw = plain(getattr(scheduler, "optimizer", None)), raw_frames(2)
        if not isinstance(optimizer, Optimizer):
            return
        known = self.schedulers.get(raw)
        same = known is not None and known.optimizer() is optimizer and known.kind == type(scheduler).__name__
        if known is None or not same or known.rates != rates(optimizer):
            if known is not None or len(self.schedulers) < MOST:
                self.schedulers[raw] = SchedulerLine(scheduler, optimizer, self.run.step)
                self.run.subscribe(self.scheduled)
            return
        if self.run.step == known.step or known.built >= LONGEST:
            return
        known.again(scheduler, self.run.step)
        if known.told:
            known.built = LONGEST
            self.tell(
                "scheduler", known, frames_of(raw), built=SCHEDULERS, calls=known.most, horizon=known.horizon,
                horizon_word=known.horizon_word, rate=max(known.rates, default=0.0),
            )  # fmt: skip
        if all(line.built >= LONGEST for line in self.schedulers.values()):
            self.run.unsubscribe(self.scheduled)

    @always
    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Count the calls of a scheduler."""
        for known in self.schedulers.values():
            known.calls += known.scheduler() is scheduler

    def tell(self, what: Any, known: OptimizerLine | SchedulerLine, frames: tuple[Frame, ...], **more: Any) -> None:
        """Write down a line."""
        given = {"built": known.built, "calm": 0, **more}
        frame = frames[0] if frames else None
        self.run.emit(
            BuiltAgain(ref=self.run.ref("update"), what=what, kind=known.kind, frame=frame, steps=known.steps, **given)
        )


def some(parameter: Tensor) -> Tensor:
    """A copy of the first elements of a parameter."""
    with torch.no_grad():
        return parameter.detach().reshape(-1)[:ELEMENTS].clone()
