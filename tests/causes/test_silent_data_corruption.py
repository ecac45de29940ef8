"""Finite when executed again."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.incident import ReplayFacts
from debugtracer.trace.step import StepRef

NOT_REPRODUCED = ReplayFacts(mechanism="tape", reproduced=False, parity="not reproduced")


def test_is_a_suspicion_when_the_tape_does_not_show_the_fault():
    evidence = evidence_of("silent-data-corruption", some_facts(None, replay=NOT_REPRODUCED))
    assert evidence is not None
    assert evidence.confidence == 0.3
    assert evidence.against


def test_a_weight_that_went_far_out_with_no_update_explains_the_bad_step():
    flipped = ValueChanged(
        ref=StepRef(iteration=47, step=48), param="up.weight", what="parameter", index=(3, 7), before=0.037,
        after=1.3e37, rms=0.09, bits=1, bit=30, width=32, written=False,
    )  # fmt: skip
    evidence = evidence_of("silent-data-corruption", some_facts(a_birth("aten::native_layer_norm"), changed=flipped))
    assert evidence is not None
    assert (evidence.confidence, evidence.because) == (
        0.995,
        "up.weight[3, 7] was 0.037 after the last updates and is 1.3e+37 now",
    )
    assert evidence.place is not None
    assert (evidence.place.param, evidence.place.module) == ("up.weight", "up")
    near = msgspec.structs.replace(flipped, after=20.0)
    assert evidence_of("silent-data-corruption", some_facts(a_birth("aten::log"), changed=near)) is None


def test_stays_silent_when_nothing_was_executed_again_or_a_birth_was_found():
    assert evidence_of("silent-data-corruption", some_facts(None, replay=None)) is None
    not_replayed = ReplayFacts(mechanism="tape", reproduced=False, parity="not replayed: batch gone")
    assert evidence_of("silent-data-corruption", some_facts(None, replay=not_replayed)) is None
    assert evidence_of("silent-data-corruption", some_facts(a_birth("aten::log"), replay=NOT_REPRODUCED)) is None
