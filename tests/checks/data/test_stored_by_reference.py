"""Entries that hold one array."""

from __future__ import annotations

from debugtracer.checks.data.stored_by_reference import StoredByReference
from debugtracer.trace.facts.stored_alias import StoredAlias
from tests.checks.optimizer.seen import at, found, line


def alias(**more: object) -> StoredAlias:
    given = {
        "container": "ReplayBuffer.data", "places": ("0", "3"), "entries": 19, "held_by": "PointMass.state",
        "root": "QNet", "rows": 64, "distinct": 12, "frame": line(17), "write_frame": line(21), "called": line(57),
    }  # fmt: skip
    return StoredAlias(ref=at(0), **{**given, **more})  # type: ignore[arg-type]


def test_an_array_that_another_object_writes_into():
    (finding,) = found(StoredByReference(), [alias(twice=True)])
    assert finding.message == (
        "step 0, rank 0: the last 19 entries of ReplayBuffer.data (train.py:17) hold one and the same array, in places "
        "0 and 3 of each, which PointMass.state is, too (train.py:21 writes into it): 12 of 64 rows that QNet "
        "(train.py:57) is given are distinct, and another batch of the step is the same; expected the values at the "
        "time of storing. Store a copy."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "rollout_mismatch", line(17))
    assert finding.place.symptom_frame == line(57)


def test_an_array_whose_values_have_changed():
    (finding,) = found(StoredByReference(), [alias(places=(), held_by="", write_frame=None, frame=None, changed=True)])
    assert "entries of ReplayBuffer.data hold one and the same array, whose values have changed since: 12 of" in (
        finding.message
    )
    assert finding.place.frame == line(57)


def columns(**more: object) -> StoredAlias:
    given = {"container": "Replay", "places": (), "columns": ("state", "next_state"), "twice": True, "frame": line(21)}
    return alias(**{**given, **more})


def test_two_columns_that_were_one_array():
    (finding,) = found(StoredByReference(), [columns(held_by="Pendulum._obs", returned=line(34), write_frame=line(31))])
    assert finding.message == (
        "step 0, rank 0: state and next_state of Replay (train.py:21) are equal in all 19 rows compared: Pendulum._obs "
        "is handed out itself (train.py:34 returns it, train.py:31 writes into it) when they were stored, and QNet "
        "(train.py:57) is given two batches that are the same; expected rows before and after a step. Return a copy, "
        "or keep one before the step."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "rollout_mismatch", line(34))


def test_two_columns_whose_array_is_not_known():
    (finding,) = found(StoredByReference(), [columns(held_by="", write_frame=None)])
    assert "in all 19 rows compared: both were the same when they were stored" in finding.message
    assert finding.place.frame == line(21)


def test_two_columns_that_are_nearly_equal():
    (finding,) = found(StoredByReference(), [columns(held_by="Pendulum._obs", write_frame=None, unequal=2)])
    assert "are equal in 17 of 19 rows compared: " in finding.message
    assert "two batches that are nearly the same; expected" in finding.message
