"""Running means that leap, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.leaping_statistics import LeapingStatistics
from debugtracer.trace.step import StepRef

LEAPING = LeapingStatistics(
    ref=StepRef(iteration=15, step=15), module="blocks.0.norm", frame=None, norms=2, momentum=0.99, steps=6, leap=0.52
)


def test_it_survives_json():
    assert from_plain(LEAPING.word(), msgspec.json.decode(msgspec.json.encode(to_plain(LEAPING)))) == LEAPING


def test_each_norm_is_news():
    assert LEAPING.key() == msgspec.structs.replace(LEAPING, leap=0.4).key()
    assert LEAPING.key() != msgspec.structs.replace(LEAPING, module="norm").key()
