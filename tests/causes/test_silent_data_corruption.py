"""Finite when executed again."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, signs_of, some_facts
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.incident import ReplayFacts
from debugtracer.trace.step import StepRef

NOT_REPRODUCED = ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")


def test_is_a_suspicion_when_the_tape_does_not_show_the_fault():
    signs = signs_of("silent-data-corruption", some_facts(None, replay=NOT_REPRODUCED))
    assert signs is not None
    assert signs.confidence == 0.3
    assert signs.against


def test_a_weight_that_went_far_out_with_no_update_explains_the_bad_step():
    flipped = ValueChanged(
        ref=StepRef(iteration=47, step=48), param="up.weight", what="parameter", index=(3, 7), before=0.037, after=1.3e37, rms=0.09, bits=1, bit=30, width=32,
        written=False,
    )  # fmt: skip
    signs = signs_of("silent-data-corruption", some_facts(a_birth("aten::native_layer_norm"), changed=flipped))
    assert signs is not None
    assert (signs.confidence, signs.because) == (0.995, "up.weight[3, 7] was 0.037 after the last updates and is 1.3e+37 now")
    assert signs.place is not None
    assert (signs.place.param, signs.place.module) == ("up.weight", "up")
    near = msgspec.structs.replace(flipped, after=20.0)
    assert signs_of("silent-data-corruption", some_facts(a_birth("aten::log"), changed=near)) is None


def test_stays_silent_when_nothing_was_executed_again_or_a_birth_was_found():
    assert signs_of("silent-data-corruption", some_facts(None, replay=None)) is None
    not_replayed = ReplayFacts(mechanism="tape", reproduced=False, parity="not replayed: batch gone")
    assert signs_of("silent-data-corruption", some_facts(None, replay=not_replayed)) is None
    assert signs_of("silent-data-corruption", some_facts(a_birth("aten::log"), replay=NOT_REPRODUCED)) is None
