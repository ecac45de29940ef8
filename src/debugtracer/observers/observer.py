"""The contract of an observer: it hears the events of a step and emits facts. Two-file law: a new one is one file below
this folder and its test."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.training_events import TrainingEvents

Method = TypeVar("Method", bound=Callable[..., None])
INSPECTED = "debug_tracer_inspected"  # attribute of a method that is called in inspected steps alone

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
