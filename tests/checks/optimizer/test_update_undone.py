"""Updates that are taken back."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.update_undone import UpdateUndone
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
