"""A broken tie as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.ties import TieGone
from debugtracer.trace.step import StepRef


def a_break(**more: object) -> TieGone:
    known = {
        "name": "emb.weight",
        "other": "head.weight",
        "numel": 4096,
        "how": "load_state_dict",
        "frame": Frame("/x/train.py", 31, "<module>", ""),
        "equal": True,
    }
    return TieGone(ref=StepRef(iteration=3, step=3), **{**known, **more})


def test_it_survives_json():
    assert from_plain("ties/TieGone", msgspec.json.decode(msgspec.json.encode(to_plain(a_break())))) == a_break()


def test_each_pair_is_news():
    assert a_break().key() != a_break(other="out.weight").key()
