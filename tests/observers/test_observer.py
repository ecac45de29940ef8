"""The contract of observers."""

from __future__ import annotations

import debugtracer.observers
from debugtracer.observers.observer import Observer
from debugtracer.plugins import members
from debugtracer.recorder.training_events import EVENTS
from tests.each import each
from tests.observers.runs import a_run

OBSERVERS = members(debugtracer.observers, Observer, a_run())


@each("slug", OBSERVERS)
def test_every_observer_listens_to_an_event_that_exists(slug):
    kind = type(OBSERVERS[slug])
    assert any(getattr(kind, name) is not getattr(Observer, name) for name in [*EVENTS, "install"])
