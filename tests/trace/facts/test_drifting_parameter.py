"""A parameter that walks, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.drifting_parameter import DriftingParameter
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef

WALKING = DriftingParameter(
    ref=StepRef(iteration=500, step=500), name="log_variance", numbers=3, first=0.0, last=-51.4, gradient=1.0, kept=1.0,
    loss=-153.0, fall=90.0, explained=90.0, looks=8, frame=None,
)  # fmt: skip


def test_it_survives_json():
    assert from_plain(WALKING.word(), msgspec.json.decode(msgspec.json.encode(to_plain(WALKING)))) == WALKING


def test_each_parameter_is_news():
    assert WALKING.key() == msgspec.structs.replace(WALKING, last=-60.0).key()
    assert WALKING.key() != msgspec.structs.replace(WALKING, name="scale").key()
