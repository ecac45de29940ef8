"""Samples that a batch has lost, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.lost_samples import LostSamples
from debugtracer.trace.step import StepRef


def lost(**more: Any) -> LostSamples:
    told: dict[str, Any] = {
        "ref": StepRef(iteration=0, step=0), "loader": 0, "paths": ("batch['ids']", "batch['labels']"),
        "whole": ("batch['images']",), "shape": (1, 38), "samples": 16, "tried": 5,
        "frame": Frame("/x/data.py", 70, "collate", ""),
    }  # fmt: skip
    return LostSamples(**(told | more))


def test_it_survives_json():
    fact = lost()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_a_loader_loses_the_same_tensors_once():
    assert lost().key() == lost(samples=8).key() != lost(loader=1).key()
