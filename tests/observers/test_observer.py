"""The contract of observers."""

from __future__ import annotations

import debugtracer.observers
from debugtracer.observers.observer import OF_FUNCTIONS, Observer, of_functions
from debugtracer.plugins import members
from debugtracer.recorder.training_events import EVENTS
from tests.each import each
from tests.observers.runs import a_run

OBSERVERS = members(debugtracer.observers, Observer, a_run())


@each("slug", OBSERVERS)
def test_every_observer_listens_to_an_event_that_exists(slug):
    kind = type(OBSERVERS[slug])
    assert any(getattr(kind, name) is not getattr(Observer, name) for name in [*EVENTS, "install"])


def test_a_call_is_told_by_the_name_of_its_function():
    @of_functions({"relu"}, ("tanh",), lambda name: name.endswith("_"))
    def called() -> None: ...

    asks = getattr(called, OF_FUNCTIONS)
    assert [name for name in ("relu", "tanh", "exp_", "exp", "re", "") if asks(name)] == ["relu", "tanh", "exp_"]


@each("slug", OBSERVERS)
def test_no_observer_asks_by_a_part_of_a_name(slug):
    """A text instead of a set of names would be searched for the letters of a name."""
    asks = getattr(type(OBSERVERS[slug]).called, OF_FUNCTIONS, None)
    assert asks is None or not asks("")
