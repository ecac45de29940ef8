"""A column that was left out, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.dropped_column import DroppedColumn
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def dropped(**more: Any) -> DroppedColumn:
    known: dict[str, Any] = {
        "trainer": "WeightedTrainer", "model": "Encoder", "dataset": "WeakLabels", "column": "weight",
        "asked_by": "compute_loss", "frame": Frame("/x/train.py", 48, "WeightedTrainer.compute_loss", ""),
    }  # fmt: skip
    return DroppedColumn(ref=StepRef(iteration=0, step=0), **{**known, **more})


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(dropped())))
    assert from_plain(DroppedColumn.word(), plain) == dropped()


def test_each_column_is_news():
    assert dropped().key() == dropped(model="Other").key() != dropped(column="group").key()
