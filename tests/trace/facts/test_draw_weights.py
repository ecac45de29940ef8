"""The weights of a sampler as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.draw_weights import DrawWeights
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def draws(**more: Any) -> DrawWeights:
    known: dict[str, Any] = {
        "ref": StepRef(iteration=4, step=4), "loader": 0, "weights": (0.05, 0.15, 0.8), "sizes": (60, 180, 960),
        "dataset": "Plots", "labels": (0, 1, 2), "drawn": ((0, 0, 2), (0, 20, 0), (490, 0, 0)),
        "frame": Frame(file="train.py", line=16), "made": (Frame(file="train.py", line=15),),
    }  # fmt: skip
    return DrawWeights(**(known | more))


def test_it_survives_json():
    fact = draws()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_another_loader_is_news():
    assert draws().key() == draws(sizes=(1, 2, 3)).key()
    assert draws().key() != draws(loader=1).key()
