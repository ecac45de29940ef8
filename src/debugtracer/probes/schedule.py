"""Follows each learning rate and each scheduler: who steps it, how often beside the updates, how far it is along its own horizon."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import torch.optim.lr_scheduler as S
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.probes.construction import built_at
from debugtracer.probes.frames import raw_frames
from debugtracer.probes.lambda_lines import LambdaLines
from debugtracer.probes.lines import first, raised_at
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.plan import Plan, is_round, rates
from debugtracer.probes.probe import Patches
from debugtracer.probes.taker import Taker
from debugtracer.recorder.batches import LoaderInfo
from debugtracer.recorder.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Rate, RateMoved, Schedule
from debugtracer.trace.number import number

ZERO_NEWS = (20, 100, 1000, 10000)  # updates running with a rate of 0 at which that is told (ours)
JUMP = 3.0  # ratio of rates that is told (CHECKS 3.3, opt_lr_jump)
MOST = 64  # schedulers followed (ours)


class Standing:
    """The learning rate of one optimizer and since when it has this sign."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.updates = self.same = self.begun = self.begun_step = 0
        self.peak = self.told = 0.0
        self.high: float | None = None
        self.sign: tuple[int, int] | None = None
        self.move: tuple[float, float, int] | None = None
        """(before, after, step) of its largest move between two updates, as a ratio."""

    def moves(self, high: float, step: int) -> None:
        """Keep the largest move."""
        if self.high is not None and self.high > 0 and high > 0 and high != self.high and (self.move is None or size(self.high, high) > size(*self.move[:2])):
            self.move = self.high, high, step


class ScheduleTaker(Taker):
    """Reads Python numbers; a rate that is a tensor is read on the CPU only."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.plans: ById[Any, Plan] = ById()
        self.standings: ById[Optimizer, Standing] = ById()
        self.known: list[Plan] = []
        self.iterated: dict[int, int] = {}
        self.lambdas = LambdaLines(lambda: self.desk.inspecting or any(s.high == 0.0 for s in list(self.standings.values())))

    def install(self) -> None:
        """Three classes do not call the constructor that the session listens to; functions are asked for their line."""
        for kind in (S.ReduceLROnPlateau, S.SequentialLR, S.ChainedScheduler):
            self.patches.wrap(kind, "__init__", self.constructor)
        self.lambdas.install()

    def remove(self) -> None:
        """Restore both."""
        self.lambdas.remove()
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.plans.clear()
        self.known.clear()
        self.standings.clear()
        self.iterated.clear()

    def constructor(self, original: Any) -> Any:
        """One of these constructors."""

        @functools.wraps(original)
        def init(scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
            original(scheduler, *args, **kwargs)
            self.desk.attempt(self.scheduler_built, (scheduler,))

        return init

    def scheduler_built(self, scheduler: Any) -> None:
        """Followed from here on."""
        self.plan_of(scheduler, built_at(sys._getframe(1), scheduler))

    def plan_of(self, scheduler: Any, frame: Frame | None = None) -> Plan:
        """What is known of a scheduler."""
        plan = self.plans.get(scheduler)
        if plan is None:
            plan = self.plans[scheduler] = Plan(scheduler, len(self.known), frame)
            standing = self.standings.get(plan.optimizer()) if frame is None and isinstance(plan.optimizer(), Optimizer) else None
            plan.updates = standing.updates if standing is not None else 0  # first met at a step: it missed these
            if len(self.known) < MOST:
                self.known.append(plan)
        return plan

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """A pass of a loader begins."""
        self.iterated[id(info)] = self.iterated.get(id(info), 0) + 1

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Counted beside the calls of each scheduler."""
        for plan in list(self.plans.values()):
            plan.backwards += 1

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call of the program's."""
        plan = self.plan_of(scheduler)
        if plan.stepped(scheduler, raw_frames(1)[:1]) or is_round(plan.calls):
            self.tell_plan(plan)

    def step_closed(self, optimizer: Optimizer) -> None:
        """An update: its rate, and the schedulers that follow it."""
        self.look_at_rate(optimizer)
        for plan in list(self.plans.values()):
            mine = plan.optimizer() is optimizer
            plan.updated(mine)
            if mine and plan.rated(rates(optimizer)):
                self.tell_plan(plan)

    def look_at_rate(self, optimizer: Optimizer) -> None:
        """Told where it is news."""
        given = rates(optimizer)
        if not given:
            return
        low, high = min(given), max(given)
        standing = self.standings.get(optimizer)
        if standing is None:
            standing = self.standings[optimizer] = Standing(len(self.standings))
        sign = (sign_of(low), sign_of(high))
        if sign != standing.sign:
            standing.sign, standing.same = sign, 0
            standing.begun, standing.begun_step = max(self.desk.iteration - 1, 0), self.desk.step
        standing.same += 1
        before = standing.high
        jumped = before is not None and before > 0 and high > 0 and not 1 / JUMP <= high / before <= JUMP
        odd = low < 0 or not math.isfinite(high)
        if standing.updates == 0 or jumped or (odd and standing.same == 1) or (high == 0 and standing.same in ZERO_NEWS):
            self.tell_rate(optimizer, standing, low, high)
        standing.updates += 1
        standing.moves(high, self.desk.step)
        standing.high, standing.peak = high, max(standing.peak, high)

    def incident(self) -> None:
        """The rates that are no longer those of the constructors."""
        for optimizer, standing in list(self.standings.items()):
            given = rates(optimizer)
            built = [float(r) for g in optimizer.param_groups if isinstance(r := g.get("initial_lr", optimizer.defaults.get("lr")), (int, float))]
            if not given or not built:
                continue
            standing.moves(max(given), self.desk.step)
            if standing.move is not None and max(given) != max(built):
                self.tell_moved(optimizer, standing, max(built), max(given))

    def tell_moved(self, optimizer: Optimizer, standing: Standing, built: float, now: float) -> None:
        """With the scheduler that set it."""
        assert standing.move is not None
        before, after, step = standing.move
        plan = next((p for p in list(self.plans.values()) if p.optimizer() is optimizer), None)
        self.desk.tell(
            RateMoved(
                ref=self.desk.ref("update", self.desk.iteration), optimizer=standing.number, frame=self.desk.built_at(optimizer), built=number(built),
                now=number(now), before=number(before), after=number(after), step=step, scheduler="" if plan is None else plan.kind,
                scheduler_frame=None if plan is None else self.lambdas.frame_of(plan.scheduler()) or plan.frame,
            )
        )  # fmt: skip

    def tell_rate(self, optimizer: Optimizer, standing: Standing, low: float, high: float) -> None:
        """With the scheduler that set it."""
        plan = next((p for p in list(self.plans.values()) if p.optimizer() is optimizer), None)
        self.desk.tell(
            Rate(
                ref=self.desk.ref("update", self.desk.iteration - 1), optimizer=standing.number, kind=type(optimizer).__name__,
                frame=self.desk.built_at(optimizer), low=number(low), high=number(high), before=None if standing.high is None else number(standing.high),
                peak=number(standing.peak), number=standing.updates, same=standing.same, begun=standing.begun, begun_step=standing.begun_step,
                scheduler="" if plan is None else plan.kind, scheduler_frame=None if plan is None else plan.frame,
                value_frame=None if plan is None else self.lambdas.frame_of(plan.scheduler()),
            )
        )  # fmt: skip

    def tell_plan(self, plan: Plan, ended: bool = False) -> None:
        """All counters."""
        optimizer = plan.optimizer()
        length, passes = self.training_loader()
        plan.length = length or plan.length
        names = self.desk.names() if plan.others and not plan.updates else {}
        held = parameters(optimizer) if isinstance(optimizer, Optimizer) else []
        self.desk.tell(
            Schedule(
                ref=self.desk.ref("schedule", self.desk.iteration - 1), scheduler=plan.number, kind=plan.kind, frame=plan.frame, step_frame=first(plan.last),
                calls=plan.calls, updates=plan.updates, other_updates=plan.others, known=any(id(p) in names for p in held), early=plan.early,
                early_again=plan.again, early_frame=first(plan.early_line), doubled=plan.doubled, doubled_frame=first(plan.doubled_line), micro=plan.micro,
                per_update=plan.per_update, horizon=plan.horizon, horizon_word=plan.horizon_word, last_epoch=plan.last_epoch, loader=plan.length,
                passes=passes, rate=number(plan.rate), peak=number(plan.peak), fallen_at=plan.fallen_at, exhausted=plan.exhausted, ended=ended,
            )
        )  # fmt: skip

    def training_loader(self) -> tuple[int | None, int]:
        """Batches of one pass of the loader whose batch came last, and how often it was iterated."""
        batch = self.desk.batches.last()
        if batch is None:
            return None, 0
        try:
            length: int | None = len(batch.loader.loader())  # type: ignore[arg-type]
        except Exception:
            length = None  # a stream has no length
        return length, self.iterated.get(id(batch.loader), 0)

    def crashed(self, error: BaseException) -> None:
        """A one-cycle schedule refuses to go on past its end; torch has no class of its own for that."""
        for plan in self.known:
            if isinstance(error, ValueError) and plan.kind == "OneCycleLR" and "Tried to step" in str(error) and str(plan.horizon) in str(error):
                plan.exhausted = True
                plan.last = raised_at(error) or plan.last

    def ended(self) -> None:
        """What came of each."""
        for plan in self.known:
            self.tell_plan(plan, ended=True)


def size(before: float, after: float) -> float:
    """Of a move, whichever way."""
    return abs(math.log(after / before))


def sign_of(value: float) -> int:
    """-1, 0 or 1."""
    return (value > 0) - (value < 0)
