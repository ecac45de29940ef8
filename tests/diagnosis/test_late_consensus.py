"""In modes val and prod no rank asks the others while its gradient is good. Two ranks: responses/test_ranks.py."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.diagnosis.late_consensus import LateConsensus
from debugtracer.recorder.run_state import RunState


class Incidents:
    """Notes what is asked of it."""

    def __init__(self, several: bool) -> None:
        self.several = several
        self.asked: list[str] = []
        self.elsewhere = False

    def meets(self) -> bool:
        return self.several

    def any_bad(self, bad: bool) -> bool | None:
        self.asked.append("vote")
        return bad or self.elsewhere

    def look_alone(self) -> None:
        self.asked.append("alone")

    def together(self, bad: bool, alarm: Any, is_open: bool = False) -> bool:
        self.asked.append("together, open here" if is_open else "together")
        return True


@pytest.mark.parametrize(
    ("several", "bad", "asked", "done"),
    [
        (True, False, ["alone"], False),
        (True, True, ["together"], True),
        (False, True, ["alone"], False),
        (False, False, ["alone"], False),
    ],
)
def test_the_others_are_asked_where_the_reduced_gradient_is_bad(
    several: bool, bad: bool, asked: list[str], done: bool
) -> None:
    incidents = Incidents(several)
    ranks = LateConsensus(incidents, RunState(), asks=True)  # type: ignore[arg-type]
    assert not ranks.meets()
    assert ranks.together(bad, lambda: None) is done  # type: ignore[arg-type, return-value]
    assert incidents.asked == asked


def test_bad_steps_in_a_row_are_looked_into_once() -> None:
    incidents = Incidents(True)
    ranks = LateConsensus(incidents, RunState(), asks=True)  # type: ignore[arg-type]
    for bad in (True, True, True, False, True):
        ranks.together(bad, lambda: None)  # type: ignore[arg-type, return-value]
    assert incidents.asked == ["together", "alone", "together"]


def test_a_rank_with_an_incident_of_its_own_answers_all_the_same() -> None:
    incidents, state = Incidents(True), RunState()
    state.quiet_until_healthy = True
    assert LateConsensus(incidents, state, asks=True).together(True, lambda: None)  # type: ignore[arg-type, return-value]
    assert incidents.asked == ["together, open here"]


def test_mode_observe_asks_nobody_and_looks_when_the_backward_is_over() -> None:
    incidents = Incidents(True)
    assert not LateConsensus(incidents, RunState(), asks=False).together(True, lambda: None)  # type: ignore[arg-type, return-value]
    assert incidents.asked == ["alone"]


def test_ranks_with_shards_vote_at_each_gate_and_hear_of_a_part_that_is_bad_elsewhere() -> None:
    incidents, state = Incidents(True), RunState()
    state.roots.sharded = True
    ranks = LateConsensus(incidents, state, asks=True)  # type: ignore[arg-type]
    assert ranks.meets()
    assert not ranks.together(False, lambda: None)  # type: ignore[arg-type, return-value]
    assert incidents.asked == ["vote", "alone"] and not state.health.bad
    incidents.elsewhere = True
    assert ranks.together(False, lambda: None)  # type: ignore[arg-type, return-value]
    assert incidents.asked[2:] == ["vote", "together"] and state.health.bad and state.health.reported
    state.health.judged([1.0], False, 1)
    assert state.health.bad  # a scaler's numbers are read after the vote
    state.health.forget()
    assert not state.health.bad and not state.health.reported


def test_shards_in_mode_observe_are_not_asked_about() -> None:
    state = RunState()
    state.roots.sharded = True
    assert not LateConsensus(Incidents(True), state, asks=False).meets()  # type: ignore[arg-type]
