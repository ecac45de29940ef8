"""The contract of facts: named by their files, written as plain values, read again as what they were."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.facts.fact import Fact, fact_kinds, from_plain, to_plain
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring
from debugtracer.trace.step import StepRef
from tests.each import each

WIRING = Wiring(
    ref=StepRef(iteration=3, step=2),
    params=(ParamWiring(name="fc.weight", numel=6, trainable=True, held=0, has_grad=True),),
    optimizers=(OptimizerWiring(kind="SGD", frame=None, held=2, strangers=2, stranger_shapes=((3, 4),)),),
)


@each("word", fact_kinds())
def test_every_kind_is_frozen_and_begins_with_its_place(word):
    kind = fact_kinds()[word]
    assert kind.__struct_config__.frozen
    assert kind.__struct_fields__[0] == "ref"
    assert kind.KEEP > 0


def test_a_fact_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(WIRING)))
    assert from_plain("wiring/Wiring", plain) == WIRING


def test_an_unknown_kind_is_left_out_and_a_wrong_shape_is_one_sentence():
    assert from_plain("future/Thing", {"ref": {}}) is None
    with pytest.raises(
        TraceError,
        match=(
            r"a fact of kind wiring/Wiring cannot be read \(.*\); it was written by another version of debug-tracer\."
        ),
    ):
        from_plain("wiring/Wiring", {"ref": {"iteration": 1, "step": 1}})


def test_the_key_of_a_kind_is_the_kind_itself_unless_it_says_otherwise():
    assert WIRING.key() is None
    assert Fact.word() == "fact/Fact"
