"""The contract of an observer: it hears the events of a step and emits facts. Two-file law: a new one is one file below
this folder and its test."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TypeVar

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.training_events import TrainingEvents

Method = TypeVar("Method", bound=Callable[..., None])
INSPECTED = "debug_tracer_inspected"  # attribute of a method that is called in inspected steps alone

OF_FUNCTIONS = "debug_tracer_of_functions"  # attribute of a method that is told of calls of some functions alone

ALWAYS = "debug_tracer_always"  # attribute of a method that is called in steps that are not observed, too


def inspected(method: Method) -> Method:
    """Mark an event of an observer that is of use in inspected steps alone: in others it is not even called."""
    setattr(method, INSPECTED, True)
    return method


def always(method: Method) -> Method:
    """Mark an event that an observer hears even while observers rest to stay under the promised cost: it would lose
    track otherwise. A few microseconds."""
    setattr(method, ALWAYS, True)
    return method


def of_functions(*some: Container[str] | Callable[[str], bool]) -> Callable[[Method], Method]:
    """Mark a `called` that is of use for functions of these names alone: of others it is not even told. Data that are
    made by ten thousands of calls before the first step would meet a hundred observers."""

    def asks(name: str) -> bool:
        return any(one(name) if callable(one) else name in one for one in some)

    def mark(method: Method) -> Method:
        setattr(method, OF_FUNCTIONS, asks)
        return method

    return mark


class Observer(TrainingEvents):
    """Base. Override the events you need; only those are called, guarded, in the training thread, with the recording of
    calls paused.

    It observes and never judges. It changes nothing, keeps nothing alive (no tensor with grad_fn beyond the event),
    waits for no device, draws no random number and leaves every global as it was. Time spent in it counts as ours
    (`own_s`).
    """

    def __init__(self, run: ObservedRun) -> None:
        self.run = run

    def install(self) -> None:
        """Patch what only this observer needs; most need nothing. Called when the session starts."""

    def remove(self) -> None:
        """Remove the patches again."""

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
