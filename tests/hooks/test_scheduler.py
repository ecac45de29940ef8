"""Facts about schedulers: what they compute is off the tape, what they set is what they set without us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler as schedulers

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.scheduler import SchedulerHook
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape


class Told(LoopEvents):
    """A tape, and schedulers kept off it."""

    def __init__(self) -> None:
        self.tape = Tape(lambda: ())
        self.built: list[Any] = []
        self.stepped: list[tuple[Any, tuple[Any, ...]]] = []
        self.stack = ModeStack()
        self.free = FreeCallMode(
            self, TrainingThread(), self.tape, self.stack, Inspection(lambda: False), CallCost(RunState())
        )
        self.schedulers = SchedulerHook(self, self.stack)

    def scheduler_built(self, scheduler: Any) -> None:
        self.built.append(scheduler)

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.stepped.append((scheduler, args))


@pytest.fixture
def told() -> Iterator[Told]:
    found = Told()
    found.schedulers.install()
    found.free.install()
    yield found
    found.free.remove()
    found.schedulers.remove()


def an_optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=torch.tensor(0.5))


KINDS: dict[str, Callable[[Any], Any]] = {
    "step": lambda o: schedulers.StepLR(o, 2, 0.1),
    "cosine": lambda o: schedulers.CosineAnnealingLR(o, 10),
    "lambda": lambda o: schedulers.LambdaLR(o, lambda step: 1 / (1 + step)),
    "one cycle": lambda o: schedulers.OneCycleLR(o, 0.5, 10, cycle_momentum=False),
    "warm restarts": lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3),
    "sequential": lambda o: schedulers.SequentialLR(
        o, [schedulers.ConstantLR(o), schedulers.ExponentialLR(o, 0.5)], [2]
    ),
    "chained": lambda o: schedulers.ChainedScheduler([schedulers.ConstantLR(o), schedulers.ExponentialLR(o, 0.5)]),
}


def rates(make: Callable[[Any], Any]) -> list[float]:
    optimizer = an_optimizer()
    scheduler = make(optimizer)
    found = []
    for _ in range(6):
        optimizer.step()
        scheduler.step()
        with torch._C.DisableTorchFunction():
            found.append(float(optimizer.param_groups[0]["lr"]))
    return found


@pytest.mark.parametrize("name", KINDS)
def test_the_rates_are_those_without_us(name: str) -> None:
    bare = rates(KINDS[name])
    told = Told()
    told.schedulers.install()
    told.free.install()
    try:
        assert rates(KINDS[name]) == bare
    finally:
        told.free.remove()
        told.schedulers.remove()


def steps_taped(told: Told, scheduler: Any) -> list[str]:
    told.tape.reset()
    scheduler.step()
    return [getattr(e.function, "__name__", "") for e in told.tape.current.entries]


@pytest.mark.parametrize("name", ["step", "cosine", "lambda", "one cycle", "warm restarts"])
@pytest.mark.filterwarnings("ignore:Detected call of")
def test_a_step_leaves_nothing_on_the_tape_and_the_loop_is_heard_after_it(told: Told, name: str) -> None:
    scheduler = KINDS[name](an_optimizer())
    assert steps_taped(told, scheduler) == []
    torch.ones(1)
    assert len(told.tape.current.entries) == 1


@pytest.mark.filterwarnings("ignore:Detected call of")
def test_without_the_probe_the_same_step_would_be_taped() -> None:
    told = Told()
    told.free.install()
    try:
        assert steps_taped(told, KINDS["cosine"](an_optimizer()))
    finally:
        told.free.remove()


def test_a_plateau_is_told_its_loss_off_the_tape(told: Told) -> None:
    scheduler = schedulers.ReduceLROnPlateau(an_optimizer(), patience=0)
    loss = torch.tensor(1.0)
    told.tape.reset()
    scheduler.step(loss)
    scheduler.step(loss)
    assert told.tape.current.entries == []


@pytest.mark.parametrize("name", ["sequential", "chained"])
@pytest.mark.filterwarnings("ignore:Detected call of")
def test_schedulers_of_schedulers_are_kept_off(told: Told, name: str) -> None:
    assert steps_taped(told, KINDS[name](an_optimizer())) == []


@pytest.mark.filterwarnings("ignore:Detected call of")
def test_a_scheduler_built_before_us_is_kept_off() -> None:
    scheduler, told = KINDS["warm restarts"](an_optimizer()), Told()
    told.schedulers.install()
    told.free.install()
    try:
        assert steps_taped(told, scheduler) == []
    finally:
        told.free.remove()
        told.schedulers.remove()


@pytest.mark.filterwarnings("ignore:Detected call of")
def test_a_scheduler_of_the_user_s_own_is_kept_off_too(told: Told) -> None:
    class Mine(schedulers.LRScheduler):
        def get_lr(self) -> list[Any]:
            return [torch.full((), 0.1) for _ in self.base_lrs]

    assert steps_taped(told, Mine(an_optimizer())) == []


def test_what_a_scheduler_raises_is_the_user_s_and_the_loop_is_still_heard(told: Told) -> None:
    optimizer = an_optimizer()
    scheduler = schedulers.LambdaLR(optimizer, lambda step: 1.0 if step == 0 else 1 / 0)
    optimizer.step()
    with pytest.raises(ZeroDivisionError):
        scheduler.step()
    assert told.stack.pushed
    assert told.stepped == []


def test_a_constructor_and_each_step_of_the_program_are_told_once(told: Told) -> None:
    optimizer = an_optimizer()
    scheduler = KINDS["cosine"](optimizer)
    assert told.built == [scheduler]
    assert told.stepped == []
    optimizer.step()
    scheduler.step()
    assert told.stepped == [(scheduler, ())]


def test_everything_is_as_it_was_after_remove() -> None:
    before = schedulers.LRScheduler.__init__, schedulers.LRScheduler.step, schedulers.ReduceLROnPlateau.step
    told = Told()
    told.schedulers.install()
    KINDS["one cycle"](an_optimizer())
    assert schedulers.LRScheduler.step is not before[1]
    told.schedulers.remove()
    assert (schedulers.LRScheduler.__init__, schedulers.LRScheduler.step, schedulers.ReduceLROnPlateau.step) == before
    told.schedulers.install()
    KINDS["one cycle"](an_optimizer())
    assert schedulers.LRScheduler.step is not before[1], "a second watch covers them again"
    told.schedulers.remove()
