"""The batch brings the NaN."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.pipeline_birth import PipelineBirth


def input_facts(name):
    return some_facts(
        a_birth(None, kind="input", direction="input", input_name=name, output=a_tensor(shape=(32, 6), nan=1))
    )


def test_a_bad_batch_is_an_exact_invariant():
    evidence = evidence_of("data-nonfinite", input_facts("batch[0]"))
    assert evidence is not None
    assert evidence.exact
    assert evidence.because == "batch[0] holds non-finite values (1 NaN, 0 Inf) before the model sees it"


def test_a_tensor_of_unknown_origin_is_likely_only():
    evidence = evidence_of("data-nonfinite", input_facts("input of sin"))
    assert evidence is not None
    assert (evidence.exact, evidence.confidence) == (False, 0.75)


def test_stays_silent_on_a_bad_parameter_and_on_an_op():
    assert evidence_of("data-nonfinite", input_facts("parameter head.weight")) is None
    assert evidence_of("data-nonfinite", some_facts(a_birth("aten::log"))) is None
    assert evidence_of("data-nonfinite", some_facts(None)) is None


def test_a_line_of_the_preparation_that_divides_gets_its_own_advice():
    made = Frame("/w/data.py", 9, "shares", "inverse = np.power(total, -1.0)")
    facts = input_facts("input 0 of the model")
    evidence = evidence_of("data-nonfinite", msgspec.structs.replace(facts, made=(made,)))
    assert evidence is not None and evidence.place is not None
    assert evidence.place.frame == made
    assert evidence.remedies[0].startswith("at data.py:9: put 1 in place of a divisor that is 0")
    plain = msgspec.structs.replace(made, code="x = load(path)")
    assert (
        evidence_of("data-nonfinite", msgspec.structs.replace(facts, made=(plain,))).remedies[0].startswith("drop or")
    )


AT, ELSEWHERE = Frame("/p/data.py", 9), Frame("/p/data.py", 20)


@pytest.mark.parametrize(
    ("born", "made", "told"),
    [
        (PipelineBirth(index=3, kind="stored", frame=AT), (), False),
        (PipelineBirth(index=3, kind="stored", frame=AT), (AT,), False),
        (PipelineBirth(index=3, kind="stored", frame=AT), (ELSEWHERE,), True),  # where the store is filled
        (PipelineBirth(index=3, kind="written", frame=AT), (ELSEWHERE,), False),
        (PipelineBirth(index=3, kind="stored"), (ELSEWHERE,), True),  # the line is not known
        (None, (ELSEWHERE,), True),
    ],
)
def test_the_lines_that_made_it_are_told_where_the_record_does_not_say(born, made, told):
    facts = msgspec.structs.replace(input_facts("batch[0]"), pipeline=born, made=made)
    assert (", made at " in evidence_of("data-nonfinite", facts).because) is told


def test_a_line_between_the_record_and_the_batch_is_another_cause():
    born = PipelineBirth(index=3, kind="division", frame=AT, expression="x / x.std()")
    facts = msgspec.structs.replace(input_facts("batch[0]"), pipeline=born)
    assert evidence_of("data-nonfinite", facts) is None
    facts = msgspec.structs.replace(facts, pipeline=msgspec.structs.replace(born, kind="written"))
    assert evidence_of("data-nonfinite", facts) is not None


def test_the_cell_of_the_file_is_told_and_is_what_to_mend():
    cell = Frame("/p/flow.csv", 431, "", "3,nan,2")
    born = PipelineBirth(index=3, kind="stored", frame=AT, record=cell, cell="flow is 'nan'")
    facts = msgspec.structs.replace(input_facts("batch[0]"), pipeline=born, made=(ELSEWHERE,))
    evidence = evidence_of("data-nonfinite", facts)
    assert evidence is not None and evidence.place is not None
    assert evidence.because.endswith(", made at data.py:20, and flow.csv:431 of the data holds it (flow is 'nan')")
    assert evidence.place.frame == cell
    assert evidence.remedies[0] == "mend flow.csv:431, where flow is 'nan', or leave that line out"
