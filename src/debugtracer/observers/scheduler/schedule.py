"""Follows each learning rate and each scheduler: who steps it, how often beside the updates, how far it has come."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import msgspec
import torch.optim.lr_scheduler as S
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.construction import built_at
from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first, raised_at
from debugtracer.hooks.hook import Patches
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.observers.scheduler.faded_rate import faded_rate
from debugtracer.observers.scheduler.kept_rate import kept_rate
from debugtracer.observers.scheduler.lambda_lines import LambdaLines
from debugtracer.observers.scheduler.loaded_rate import LoadedRate, loaded_rate
from debugtracer.observers.scheduler.moved_rate import died_in_update, moved_rate, undefined
from debugtracer.observers.scheduler.plateau_values import plateau_value
from debugtracer.observers.scheduler.rate_history import rate_history
from debugtracer.observers.scheduler.rate_lines import RateLines, built_rates, fraction_line
from debugtracer.observers.scheduler.schedule_state import ScheduleState
from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan, is_round, rates
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Rate, Schedule
from debugtracer.trace.number import number

ZERO_NEWS = (20, 100, 1000, 10000)  # updates running with a rate of 0 at which that is emitted (ours)
JUMP = 3.0  # ratio of rates that is told (docs/rationale/checks.md#opt_lr_jump)
MOST = 64  # schedulers followed (ours)


class ScheduleObserver(Observer):
    """Reads Python numbers; a rate that is a tensor is read on the CPU only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.plans: ById[Any, SchedulerPlan] = ById()
        self.states: ById[Optimizer, ScheduleState] = ById()
        self.known: list[SchedulerPlan] = []
        self.iterated: dict[int, int] = {}
        self.loads: ById[Optimizer, LoadedRate] = ById()
        self.rate_lines = RateLines(run.state.optimizers.get)
        self.lambdas = LambdaLines(
            lambda: self.run.inspecting or any(s.high == 0.0 for s in list(self.states.values()))
        )

    def install(self) -> None:
        """Patch three constructors that do not call the common one, and the functions whose line is wanted."""
        for kind in (S.ReduceLROnPlateau, S.SequentialLR, S.ChainedScheduler):
            self.patches.wrap(kind, "__init__", self.constructor)
        self.lambdas.install()

    def remove(self) -> None:
        self.lambdas.remove()
        self.patches.undo()

    def reset(self) -> None:
        self.plans.clear()
        self.known.clear()
        self.states.clear()
        self.loads.clear()
        self.iterated.clear()

    def constructor(self, original: Any) -> Any:
        """Wrap one of these constructors."""

        @functools.wraps(original)
        def init(scheduler: Any, /, *args: Any, **kwargs: Any) -> None:
            original(scheduler, *args, **kwargs)
            self.run.attempt(self.scheduler_built, (scheduler,))

        return init

    def scheduler_built(self, scheduler: Any) -> None:
        """Count its calls from here on, and note its line."""
        self.plan_of(scheduler, built_at(sys._getframe(1), scheduler))

    def plan_of(self, scheduler: Any, frame: Frame | None = None) -> SchedulerPlan:
        """What is known of a scheduler."""
        plan = self.plans.get(scheduler)
        if plan is None:
            plan = self.plans[scheduler] = SchedulerPlan(scheduler, len(self.known), frame)
            mine = plan.optimizer() if frame is None else None
            rate_state = self.states.get(mine) if isinstance(mine, Optimizer) else None
            plan.updates = rate_state.updates if rate_state is not None else 0  # first met at a step: it missed these
            if len(self.known) < MOST:
                self.known.append(plan)
                self.lambdas.cover(scheduler)
        return plan

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Count a pass of a loader."""
        self.iterated[id(info)] = self.iterated.get(id(info), 0) + 1

    def restored(self, word: str, owner: Any) -> None:
        """Note the rate that came with the state of an optimizer that has not begun."""
        begun = not isinstance(owner, Optimizer) or self.states.get(owner) is not None
        if not begun and (load := loaded_rate(owner, self.run.here())) is not None:
            self.loads[owner] = load

    @always
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Count a backward beside the calls of each scheduler."""
        for plan in list(self.plans.values()):
            plan.backwards += 1

    @always
    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a scheduler call of the program's."""
        plan = self.plan_of(scheduler)
        if plan.stepped(scheduler, raw_frames(1)[:1]) or is_round(plan.calls):
            self.emit_plan(plan)
        fed = plateau_value(plan, scheduler, args, kwargs, self.run.ref("schedule", self.run.iteration - 1))
        if fed is not None:
            self.run.emit(fed)

    @always
    def step_closed(self, optimizer: Optimizer) -> None:
        """Note an update: its rate, and the schedulers that follow it."""
        self.look_at_rate(optimizer)
        for plan in list(self.plans.values()):
            mine = plan.optimizer() is optimizer
            plan.updated(mine)
            if mine and plan.rated(rates(optimizer)):
                self.emit_plan(plan)

    def look_at_rate(self, optimizer: Optimizer) -> None:
        """Emit the learning rate where it is new."""
        if not (given := rates(optimizer)):
            return
        low, high = min(given), max(given)
        rate_state = self.states.get(optimizer)
        if rate_state is None:
            rate_state = self.states[optimizer] = ScheduleState(len(self.states))
            batch = self.run.batches.last()
            rate_state.loader = None if batch is None else id(batch.loader)
        sign = (sign_of(low), sign_of(high))
        if sign != rate_state.sign:
            rate_state.sign, rate_state.same = sign, 0
            rate_state.begun, rate_state.begun_step = max(self.run.iteration - 1, 0), self.run.step
        rate_state.same += 1
        before = rate_state.high
        jumped = before is not None and before > 0 and high > 0 and not 1 / JUMP <= high / before <= JUMP
        odd = low < 0 or not math.isfinite(high)
        if (
            rate_state.updates == 0
            or jumped
            or rate_state.climbs(high)
            or (odd and rate_state.same == 1)
            or (high == 0 and rate_state.same in ZERO_NEWS)
        ):
            self.emit_rate(optimizer, rate_state, low, high)
        rate_state.updates += 1
        rate_state.moves(high, self.run.step)
        rate_state.fades(high, self.run.step)
        rate_state.turns(high, self.run.step)
        rate_state.high, rate_state.peak = high, max(rate_state.peak, high)

    def incident(self) -> None:
        """Emit the rates that are no longer those of the constructors."""
        for optimizer, rate_state in list(self.states.items()):
            self.emit_moved(optimizer, rate_state)

    def emit_moved(self, optimizer: Optimizer, rate_state: ScheduleState) -> None:
        """Emit a moved rate with the scheduler that set it."""
        plan = self.setter(optimizer)
        fact = moved_rate(self.run, optimizer, rate_state, plan, self.lambdas)
        if fact is not None:
            written = self.rate_lines.line(optimizer, float(fact.now), [float(fact.built)], False) if not plan else None
            self.run.emit(msgspec.structs.replace(fact, written=written))

    def setter(self, optimizer: Optimizer) -> SchedulerPlan | None:
        """The scheduler that last gave the rates of now, of several at least the first; None where the program did."""
        mine = [p for p in list(self.plans.values()) if p.optimizer() is optimizer]
        now = [rate for group in optimizer.param_groups if type(rate := group.get("lr")) in (float, int)]
        gave = [p for p in mine if now and vars(p.scheduler() or p).get("_last_lr", now) == now]
        return next(iter(gave or (mine if len(mine) > 1 or not now else ())), None)

    def emit_rate(self, optimizer: Optimizer, rate_state: ScheduleState, low: float, high: float) -> None:
        """Emit a rate with the scheduler that set it."""
        plan = self.setter(optimizer)
        built = built_rates(optimizer)
        value_frame = None if plan is None else self.lambdas.frame_of(plan.scheduler())
        fallen = rate_state.high is not None and rate_state.high > JUMP * high
        load = self.loads.get(optimizer) if not rate_state.updates else None
        written = self.rate_lines.line(optimizer, high, built, not rate_state.updates) if plan is None else None
        self.run.emit(
            Rate(
                ref=self.run.ref("update", self.run.iteration - 1), optimizer=rate_state.number,
                kind=type(optimizer).__name__, frame=self.run.built_at(optimizer), low=number(low), high=number(high),
                built=number(max(built)) if built else None,
                before=None if rate_state.high is None else number(rate_state.high), peak=number(rate_state.peak),
                number=rate_state.updates, same=rate_state.same, begun=rate_state.begun,
                begun_step=rate_state.begun_step, scheduler="" if plan is None else plan.kind,
                calls=None if plan is None else plan.calls, scheduler_frame=None if plan is None else plan.frame,
                value_frame=value_frame, loaded=None if load is None else number(load.rate),
                loaded_frame=None if load is None else load.frame,
                climb_frame=self.rate_lines.climb(optimizer, value_frame, plan is None) if fallen else None,
                rate_frame=written, fraction_frame=fraction_line(value_frame or written) if low < 0 else None,
            )
        )  # fmt: skip

    def emit_plan(self, plan: SchedulerPlan, ended: bool = False) -> None:
        """Emit all counters of a scheduler."""
        optimizer = plan.optimizer()
        length, passes = self.training_loader()
        plan.length = length or plan.length
        names = self.run.names() if plan.others and not plan.updates else {}
        held = parameters(optimizer) if isinstance(optimizer, Optimizer) else []
        self.run.emit(
            Schedule(
                ref=self.run.ref("schedule", self.run.iteration - 1), scheduler=plan.number, kind=plan.kind,
                frame=plan.frame, step_frame=first(plan.last), calls=plan.calls, updates=plan.updates,
                other_updates=plan.others, known=any(id(p) in names for p in held), early=plan.early,
                early_again=plan.again, early_frame=first(plan.early_line), doubled=plan.doubled,
                doubled_frame=first(plan.doubled_line), micro=plan.micro, per_update=plan.per_update,
                horizon=plan.horizon, horizon_word=plan.horizon_word, last_epoch=plan.last_epoch, loader=plan.length,
                passes=passes, rate=number(plan.rate), peak=number(plan.peak), fallen_at=plan.fallen_at,
                exhausted=plan.exhausted, ended=ended, computed=self.lambdas.computed_at(plan.scheduler()),
            )
        )  # fmt: skip

    def training_loader(self) -> tuple[int | None, int]:
        """Return the batches per pass of the loader whose batch came last, and how often it was iterated."""
        batch = self.run.batches.last()
        if batch is None:
            return None, 0
        try:
            length: int | None = len(batch.loader.loader())  # type: ignore[arg-type]
        except Exception:
            length = None  # a stream has no length
        return length, self.iterated.get(id(batch.loader), 0)

    def crashed(self, error: BaseException) -> None:
        """Emit a rate that is no number where an update dies of it; note a one-cycle schedule that refuses to go past
        its end, for which torch has no class of its own."""
        for optimizer, rate_state in list(self.states.items()):
            if died_in_update(error, optimizer) and undefined(optimizer):
                self.emit_moved(optimizer, rate_state)
        for plan in self.known:
            if (
                isinstance(error, ValueError)
                and plan.kind == "OneCycleLR"
                and "Tried to step" in str(error)
                and str(plan.horizon) in str(error)
            ):
                plan.exhausted = True
                plan.last = raised_at(error) or plan.last

    def ended(self) -> None:
        """Emit what came of each scheduler."""
        for plan in self.known:
            self.emit_plan(plan, ended=True)
        for optimizer, rate_state in list(self.states.items()):
            self.emit_kept(optimizer, rate_state)
            self.emit_history(optimizer, rate_state)
            self.emit_faded(optimizer, rate_state)

    def emit_history(self, optimizer: Optimizer, state: ScheduleState) -> None:
        """Emit the way of a rate that has moved."""
        plan = self.setter(optimizer)
        value = None if plan is None else self.lambdas.frame_of(plan.scheduler())
        fact = rate_history(self.run, optimizer, state, plan, self.loads.get(optimizer), value)
        if fact is not None:
            written = (
                None if plan else self.rate_lines.line(optimizer, state.high or 0.0, built_rates(optimizer), False)
            )
            self.run.emit(msgspec.structs.replace(fact, rate_frame=written))

    def emit_faded(self, optimizer: Optimizer, rate_state: ScheduleState) -> None:
        """Emit a rate that was next to nothing, where no scheduler sets it."""
        rate = rate_state.high
        if rate_state.faded and rate is not None and not any(p.optimizer() is optimizer for p in self.plans.values()):
            written = self.rate_lines.line(optimizer, rate, built_rates(optimizer), False)
            self.run.emit(faded_rate(self.run, optimizer, rate_state, written))

    def emit_kept(self, optimizer: Optimizer, state: ScheduleState) -> None:
        """Emit a rate that no update has seen move, though its schedule begins from another; one that came with a
        loaded state is where that run's schedule had got to."""
        if self.loads.get(optimizer) is not None:
            return
        plan = next((p for p in list(self.plans.values()) if p.optimizer() is optimizer), None)
        if (fact := kept_rate(self.run, optimizer, state, plan, self.iterated.get(state.loader or 0, 0))) is not None:
            self.run.emit(fact)


def sign_of(value: float) -> int:
    return (value > 0) - (value < 0)
