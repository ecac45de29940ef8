"""Updates that are taken back."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.update_undone import UpdateUndone
from debugtracer.trace.facts.undone_round import UndoneRound
from debugtracer.trace.facts.undone_update import UndoneUpdate
from tests.checks.optimizer.seen import at, found, line


def undone(number: int, **fields: object) -> UndoneUpdate:
    given = {"moved": 6, "back": 6, "params": ("0.weight",), "loaded": line(41), "loads": line(12), **fields}
    return UndoneUpdate(ref=at(number), optimizer=0, kind="AdamW", built=line(30), number=number, **given)


def test_weights_that_are_loaded_after_each_update():
    (finding,) = found(UpdateUndone(), [undone(n) for n in range(4)])
    assert finding.message == (
        "step 0, rank 0: 6 parameters (0.weight, ...) that AdamW (train.py:30) moved were bit for bit what they had "
        "been when its next update began, in 3 updates running: a state is loaded into them (train.py:41); expected "
        "weights that stay. Load it into the copy."
    )
    assert (finding.kind, finding.severity, finding.exact) == ("parameters_not_updated", "error", True)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(41), line(12))


def test_without_a_load_the_optimizer_is_the_place():
    (finding,) = found(UpdateUndone(), [undone(n, loaded=None, loads=None) for n in range(3)])
    assert finding.place.frame == line(30)
    assert finding.message.endswith("expected weights that stay. Look at what writes the weights after step().")


def test_a_line_that_puts_another_value_there_is_the_place():
    (finding,) = found(UpdateUndone(), [undone(n, loaded=None, loads=None, written=line(36)) for n in range(3)])
    assert finding.place.frame == line(36)
    assert "in 3 updates running: another value is written over them after it (train.py:36); " in finding.message
    assert finding.remedy[0].startswith("write the old values back before step()")
    (loaded,) = found(UpdateUndone(), [undone(n, written=line(36)) for n in range(3)])
    assert loaded.place.frame == line(41)


@pytest.mark.parametrize(
    "facts",
    [
        [undone(0), undone(1)],
        [undone(n, back=5) for n in range(4)],
        [undone(n, moved=0, back=0) for n in range(4)],
        [undone(n, reset=True) for n in range(4)],
        [undone(0), undone(1, back=0), undone(2), undone(3)],
    ],
    ids=["two", "some stay", "nothing moved", "adaptation", "now and then"],
)
def test_updates_that_last_and_starts_on_purpose_are_silent(facts):
    assert found(UpdateUndone(), facts) == []


def lost(number: int, **fields: object) -> UndoneRound:
    given = {"updates": 30, "moved": True, "back": True, "params": 12, "loads": line(48), **fields}
    return UndoneRound(
        ref=at(30 * number), module=0, name="Policy", kind="Adam", built=line(30), number=number, **given
    )


def test_rounds_that_a_load_writes_over():
    (finding,) = found(UpdateUndone(), [lost(n) for n in range(10)])
    assert finding.message == (
        "step 0, rank 0: load_state_dict (train.py:48) gives Policy bit for bit the weights that it gave it the last "
        "time, 8 times running: the 30 updates of Adam (train.py:30) between two loads are written over each time, and "
        "nothing ran or read the weights in between; expected updates that stay. Load the trained weights into the "
        "copy, not the copy into the trained model."
    )
    assert (finding.kind, finding.severity, finding.exact) == ("parameters_not_updated", "warning", False)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(48), line(30))


@pytest.mark.parametrize(
    "facts",
    [
        [lost(n) for n in range(7)],
        [lost(n, used=True) for n in range(10)],
        [lost(n, outer=True) for n in range(10)],
        [lost(n, moved=False) for n in range(10)],
        [lost(n, updates=1) for n in range(10)],
        [lost(n, back=n != 5) for n in range(12)],
    ],
    ids=["a batch of tasks", "read", "inner loop", "nothing moved", "single", "now and then"],
)
def test_rounds_that_serve_are_silent(facts):
    assert found(UpdateUndone(), facts) == []
