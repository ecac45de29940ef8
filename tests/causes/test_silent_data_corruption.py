"""Finite when executed again."""

from __future__ import annotations

import msgspec

from debugtracer.causes.silent_data_corruption import FAR
from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.birth import Frame
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


def changed(**more):
    known = {"param": "up.weight", "what": "parameter", "index": (3,), "before": 0.5, "rms": 1.0, "bits": 1, "bit": 30}
    fact = ValueChanged(
        ref=StepRef(iteration=47, step=48), **{**known, "after": 1e30, "width": 32, "written": False, **more}
    )
    return evidence_of("silent-data-corruption", some_facts(a_birth("aten::log"), changed=fact))


def test_a_value_is_far_out_from_a_multiple_of_the_others_on_and_one_that_is_no_number_is():
    assert changed(after=FAR) is None
    assert changed(after=1.001 * FAR).confidence == 0.995
    assert changed(after=-1.001 * FAR) is not None
    assert changed(after="NaN") is not None
    assert changed(after=1e-23, rms=0.0) is not None
    assert changed(after=1e-25, rms=0.0) is None


def test_a_write_of_the_program_speaks_against_it():
    assert changed().against == ()
    assert changed(written=True).against == ("an operator of the program wrote to it",)
    assert changed(frame=Frame("/p/train.py", 3)).against == ("an operator of the program wrote to it",)
    assert "exp_avg of up.weight[3] was 0.5" in changed(what="exp_avg").because


def test_only_a_tape_that_did_not_show_the_fault_is_a_suspicion():
    def told(**more):
        replay = msgspec.structs.replace(NOT_REPRODUCED, **more)
        return evidence_of("silent-data-corruption", some_facts(None, replay=replay))

    assert told() is not None
    assert told(mechanism="re-yield") is None
    assert told(reproduced=True) is None
    assert told(parity="bitwise") is None
