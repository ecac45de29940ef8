"""Actions leave events; lines on stderr become rare; the effect is measured some steps later."""

from __future__ import annotations

import math
from typing import Any

import pytest

from debugtracer.notify.notices import Notices
from debugtracer.responses.action_log import AFTER, NEVER, ActionLog, named_first
from debugtracer.trace.events import Acted, ActionEffect
from tests.responses.steps import a_bad_step


class Kept:
    """Stands where the session has its output."""

    rank, folder = 0, "runs/one"

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.notes: list[tuple[str, str]] = []

    def event(self, event: Any, now: bool = False) -> None:
        self.events.append(event)

    def note(self, what: str, text: str) -> None:
        self.notes.append((what, text))

    def trace_id(self, iteration: int) -> str:
        return f"one-0-{iteration}"


LOSSES = [0.5, math.nan, 0.7, 0.6]


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def log(kept: Kept) -> ActionLog:
    return ActionLog(kept, lambda: LOSSES, Notices([]))  # type: ignore[arg-type]


def test_an_action_is_an_event_with_its_reason_and_samples(log: ActionLog, kept: Kept) -> None:
    log.refused(["this would not do"])
    log.took(a_bad_step(loss=math.nan, samples=(3, 4)), "skip-update", "it was left out")
    (event,) = kept.events
    assert isinstance(event, Acted)
    assert (event.action, event.step, event.samples, event.trace_id) == ("skip-update", 50, (3, 4), "one-0-50")
    assert event.reason == "the loss is NaN; it was left out (less would not do: this would not do)"


def test_the_line_says_where_what_was_seen_and_what_to_do_next(
    log: ActionLog, capsys: pytest.CaptureFixture[str]
) -> None:
    log.took(a_bad_step(loss=math.nan, samples=tuple(range(9))), "skip-update", "it was left out")
    assert capsys.readouterr().err == (
        "debug-tracer: step 50, rank 0 - the loss is NaN (dataset samples 0, 1, 2, 3, 4, 5, 6, 7 and 1 more) - "
        "expected finite numbers - it was left out. `debug-tracer report runs/one` lists every action.\n"
    )


def test_lines_become_rare_and_a_stop_is_always_told(log: ActionLog, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        log.took(a_bad_step(step=number), "skip-update", "it was left out")
    assert len(capsys.readouterr().err.splitlines()) == 6  # 1, 2, 3, 4, 8, 16
    log.took(a_bad_step(), "stop", "it was stopped")
    assert "action 21 of this run" in capsys.readouterr().err


def test_the_effect_comes_some_steps_later(log: ActionLog, kept: Kept) -> None:
    log.took(a_bad_step(step=50), "skip-update", "it was left out")
    log.noted(a_bad_step(step=50), "skip-sample", "its sample is left out from now on", (3,))
    log.took(a_bad_step(step=55), "skip-update", "it was left out")
    assert log.due == 50 + AFTER
    log.measure(70)
    log.measure(75)
    effects = [e for e in kept.events if isinstance(e, ActionEffect)]
    assert [(e.step, e.after, e.bad) for e in effects] == [(50, 20, 1), (55, 20, 0)]
    assert effects[0].loss_before == effects[0].loss_after == 0.6
    assert log.due == NEVER


def test_what_is_left_alone_is_said_once_for_each_reason(
    log: ActionLog, kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    for why in ("the first", "the first", "the second"):
        log.left_alone(a_bad_step(gradient=True), why)
    assert len(kept.notes) == len(capsys.readouterr().err.splitlines()) == 2
    where = "step 50, rank 0 - a gradient is not finite"
    assert kept.notes[0] == ("responses", f"{where} - nothing was done about it: the first")


def test_a_new_run_begins_with_nothing(log: ActionLog) -> None:
    log.took(a_bad_step(), "skip-update", "it was left out")
    log.reset()
    assert (log.count, log.due, len(log.waiting)) == (0, NEVER, 0)


def test_guilty_samples_come_first_in_a_line_that_is_cut() -> None:
    assert named_first((1, 2, 3), (3,)) == "3, 1, 2"
    assert named_first(tuple(range(10)), (9, 77)) == "9, 0, 1, 2, 3, 4, 5, 6 and 2 more"
