"""A loss that is weighed by its own mean, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.focal_mean import FocalMean
from debugtracer.trace.step import StepRef


def focal(**more: Any) -> FocalMean:
    known: dict[str, Any] = {
        "ref": StepRef(iteration=0, step=0), "loss": "cross_entropy", "rows": 32,
        "frame": Frame(file="train.py", line=18), "exp_frame": Frame(file="train.py", line=19),
        "product_frame": Frame(file="train.py", line=20),
    }  # fmt: skip
    return FocalMean(**(known | more))


def test_it_survives_json():
    fact = focal(built=Frame(file="train.py", line=12))
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_another_line_is_news():
    assert focal().key() == focal(rows=8).key()
    assert focal().key() != focal(product_frame=Frame(file="train.py", line=21)).key()
