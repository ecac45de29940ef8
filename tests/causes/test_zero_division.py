"""A count or sum of zero below the line."""

from __future__ import annotations

import msgspec

from debugtracer.testing import TRAIN, a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import EmptyGroup, Frame


def test_fires_on_zero_by_zero():
    evidence = evidence_of(
        "zero-division",
        some_facts(
            a_birth("aten::div", a_tensor(0.0, shape=()), a_tensor(0.0, shape=(), made_by="aten::sum"), kind="0/0")
        ),
    )
    assert evidence is not None
    assert evidence.because == "div divides 0 by 0 (made by sum)"


def test_the_group_that_the_row_stands_for():
    birth = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::sum"), kind="0/0")
    group = EmptyGroup(name="to_neighs", row=129, kind="set", called=(("nodes", "839"),), others=200)
    evidence = evidence_of("zero-division", some_facts(msgspec.structs.replace(birth, group=group)))
    assert evidence is not None
    assert evidence.because == (
        "div divides 0 by 0 (made by sum): to_neighs[129] (nodes[129] is 839) is an empty set, where 200 others hold "
        "something"
    )


def test_fires_on_a_number_by_zero():
    evidence = evidence_of("zero-division", some_facts(a_birth("aten::div", a_tensor(3.0), a_tensor(0.0))))
    assert evidence is not None
    assert evidence.because == "div divides a number by 0"


def test_fires_on_the_mean_of_an_empty_tensor():
    evidence = evidence_of("zero-division", some_facts(a_birth("aten::mean", a_tensor(shape=(0, 5)), kind="0/0")))
    assert evidence is not None
    assert evidence.because == "mean takes the mean of an empty tensor of shape [0, 5], which is 0/0"


def test_stays_below_a_cause_that_knows_what_the_divisor_is():
    plain = evidence_of("zero-division", some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0))))
    norm = evidence_of(
        "zero-division",
        some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::linalg_vector_norm"))),
    )
    assert plain is not None
    assert norm is not None
    assert norm.confidence < plain.confidence


def test_stays_silent_when_the_divisor_is_not_zero_or_in_backward():
    assert (
        evidence_of("zero-division", some_facts(a_birth("aten::div", a_tensor(1e38), a_tensor(1e-3), kind="overflow")))
        is None
    )
    assert (
        evidence_of(
            "zero-division", some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), direction="backward"))
        )
        is None
    )
    assert evidence_of("zero-division", some_facts(a_birth("aten::mean", a_tensor(1.0, shape=(3,))))) is None


def test_an_overflow_by_a_divisor_that_is_not_known_is_no_division_by_zero():
    assert evidence_of("zero-division", some_facts(a_birth("aten::div", a_tensor(1e30), kind="overflow"))) is None


def test_a_divisor_that_a_clamp_cuts_off_at_zero_is_to_be_bounded_there():
    at = Frame(TRAIN, 31, "forward", "scale = h.clamp(min=0)")
    cut = msgspec.structs.replace(a_tensor(0.0), made_by="aten::clamp", made_at=at)
    evidence = evidence_of("zero-division", some_facts(a_birth("aten::div", a_tensor(3.0), cut)))
    assert evidence is not None
    assert evidence.place is not None
    assert evidence.place.frame == at
    assert evidence.remedies[0].startswith("give the divisor a lower bound above 0 where it is made")


def test_a_divisor_that_is_a_root_is_no_empty_selection():
    for maker, first in (("aten::sqrt", "add a small number under the root"), ("aten::sum", "clamp the divisor")):
        facts = some_facts(a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by=maker), kind="0/0"))
        evidence = evidence_of("zero-division", facts)
        assert evidence is not None and evidence.remedies[0].startswith(first)
