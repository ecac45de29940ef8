"""What is saved, as a value."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointSaved, PlainValue, resets
from debugtracer.trace.step import StepRef


def test_saves_are_told_apart_by_their_line():
    ref = StepRef(iteration=1, step=1)
    first, second = (CheckpointSaved(ref=ref, parts=(), live=(), frame=Frame("/p/train.py", line)) for line in (3, 4))
    assert first.key() != second.key()
    assert CheckpointSaved(ref=ref, parts=(), live=()).key() is None


def plain(name: str, mean: float, spread: float = 0.0, size: int = 1, counts: tuple[int, ...] = ()) -> PlainValue:
    return PlainValue(name=name, size=size, mean=mean, spread=spread, counts=counts)


def test_an_attribute_that_is_another_one_begins_anew():
    before = [plain("Scaler.mean", 389.0), plain("Scaler.std", 190.0), plain("Scaler.eps", 1e-6)]
    now = [plain("Scaler.mean", 0.0), plain("Scaler.std", 190.1), plain("Scaler.eps", 1e-6), plain("Net.scale", 3.0)]
    assert [(one.name, other.mean) for one, other in resets(before, now)] == [("Scaler.mean", 0.0)]


def test_another_spread_or_size_counts_and_what_counts_does_not():
    before = [plain("A.mean", 0.0, 2.0, 4), plain("B.table", 1.0, size=40), plain("Meter.sum", 81.0, counts=(40,))]
    now = [plain("A.mean", 0.0, 1.0, 4), plain("B.table", 1.0, size=41), plain("Meter.sum", 0.0, counts=(0,))]
    assert [one.name for one, _ in resets(before, now)] == ["A.mean", "B.table"]
    assert resets(before, before) == []
