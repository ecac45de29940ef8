"""A batch put together in two orders, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.collated_rows import CollatedRows
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def collated(**more: Any) -> CollatedRows:
    known: dict[str, Any] = {
        "loader": 0, "path": "batch[1]", "other": "batch[0]", "rows": 48, "apart": 45,
        "first": ((712, 31), (9, 440)), "frame": Frame("/x/data.py", 70, "collate", ""),
    }  # fmt: skip
    return CollatedRows(ref=StepRef(iteration=0, step=0), **{**known, **more})


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(collated())))
    assert from_plain(CollatedRows.word(), plain) == collated()


def test_each_pair_is_news():
    assert collated().key() == collated(apart=2).key() != collated(other="batch[2]").key()
