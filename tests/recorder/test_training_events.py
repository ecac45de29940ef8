"""Facts about the events of a training run: which there are, that each does nothing of itself, and that a loop is
reported in its order."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.recorder.training_events import EVENTS, TrainingEvents
from tests.recorder.watched import Watched


class Silent(TrainingEvents):
    """Overrides nothing."""


def test_each_event_does_nothing_unless_it_is_overridden() -> None:
    silent = Silent()
    for name in EVENTS:
        method = getattr(silent, name)
        assert method(*[None] * len(inspect.signature(method).parameters)) is None


def test_events_are_what_the_class_says_and_none_of_python_s_own() -> None:
    assert {"fetched", "entered", "left", "backward_begins", "step_closed", "incident", "ended"} <= set(EVENTS)
    assert not [name for name in EVENTS if name.startswith("_")]
    assert len(set(EVENTS)) == len(EVENTS)


def test_the_dispatcher_hands_on_every_event_with_the_same_arguments() -> None:
    for name in EVENTS:
        assert name in vars(ObserverDispatcher), name
        assert inspect.signature(getattr(ObserverDispatcher, name)) == inspect.signature(getattr(TrainingEvents, name))


def test_a_step_is_reported_in_its_order() -> None:
    told: list[str] = []

    def noted(name: str) -> Any:
        return lambda self, *args: told.append(name)

    all_of_them = type("All", (TrainingEvents,), {name: noted(name) for name in EVENTS})
    model = nn.Linear(3, 1)
    with Watched(observers=all_of_them()):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        model(torch.ones(1, 3)).mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    assert told == [
        "optimizer_built",
        "zeroed",
        "entered",
        "left",
        "backward_begins",
        "backward_ended",
        "clipped",
        "step_begins",
        "step_ended",
        "step_closed",
        "optimizer_changed",
    ]
