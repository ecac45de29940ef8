"""Passes over loaders, told or not."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.hooks.loading.pass_events import PassEvents
from debugtracer.recorder.listeners import PassListener


class Passes(PassListener):
    def __init__(self, waiting: bool) -> None:
        self.waiting, self.words = waiting, []  # type: ignore[var-annotated]

    def begins(self, loader: Any) -> None:
        self.words.append(("begins", loader))

    def begun(self, loader: Any, iterator: Any) -> None:
        self.words.append(("begun", iterator))

    def before_fetch(self, iterator: Any) -> bool:
        if iterator is None:
            raise ValueError("broken")
        return True


def test_a_listener_hears_and_may_end_a_pass() -> None:
    passes = Passes(waiting=True)
    events = PassEvents(passes)
    events.begins("loader")
    events.begun("loader", "iterator")
    assert passes.words == [("begins", "loader"), ("begun", "iterator")]
    assert events.ends("iterator")
    passes.waiting = False
    assert not events.ends("iterator")


def test_nobody_listens_and_what_fails_ends_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    assert not PassEvents(None).ends("iterator")
    assert not PassEvents(Passes(waiting=True)).ends(None)
