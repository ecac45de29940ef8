"""Elements of gradients far beyond their second moment, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.element_spikes import ElementSpikes, SpikedParam
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def some_spikes(step: int = 537, age: int = 537, **more: object) -> ElementSpikes:
    known = {"name": "head.weight", "numel": 1000, "sampled": 1000, "spiked": 880, "most": 1.3e6}
    return ElementSpikes(
        ref=StepRef(iteration=step, step=step),
        optimizer="AdamW",
        params=(SpikedParam(**{**known, **more}),),
        looked=4,
        age=age,
        standout=True,
    )


def test_it_survives_json():
    fact = some_spikes(most="Infinity")
    assert from_plain("element-spikes/ElementSpikes", msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_look_is_news():
    assert some_spikes(3).key() != some_spikes(4).key()
