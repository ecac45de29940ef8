"""How a cause reads the facts."""

from __future__ import annotations

import dataclasses
import math

import msgspec
import pytest
import torch

from debugtracer.causes.incident_evidence import EXP_LIMIT, LARGEST, SMALLEST, IncidentEvidence, base, calls, values
from debugtracer.testing import TRAIN, a_birth, a_tensor, some_facts
from debugtracer.trace.birth import ChainLink, Frame
from debugtracer.trace.incident import WeightWrite


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten::_softmax", "softmax"),
        ("aten::addcdiv_", "addcdiv"),
        ("aten::_foreach_sqrt_.default", "sqrt"),
        ("aten::div.Tensor", "div"),
        (None, ""),
    ],
)
def test_an_op_loses_its_decoration(op, name):
    assert base(op) == name


def test_calls_are_read_from_code_not_from_comments_or_strings():
    assert calls("x = y / y.norm(dim=-1)  # std(x)") == {"norm"}
    assert calls("print('mean(x)')") == {"print"}


def test_growth_is_the_last_value_over_the_median_before_it():
    seen = IncidentEvidence(some_facts(None, recent={"loss": [1.0, 2.0, 3.0, "NaN", 20.0], "grad_l2": [1.0]}))
    assert seen.growth("loss") == 10.0
    assert seen.growth("grad_l2") == 1.0
    assert seen.growth("nothing") == 1.0


def test_some_rows_are_few_and_all_rows_are_not():
    assert IncidentEvidence(some_facts(a_birth("aten::log", rows=(3,)))).few_rows
    assert not IncidentEvidence(some_facts(a_birth("aten::log", rows=tuple(range(32))))).few_rows
    assert not IncidentEvidence(some_facts(a_birth("aten::log"))).few_rows


@pytest.mark.parametrize("name", sorted(LARGEST))
def test_the_limits_of_each_dtype_are_those_of_torch(name):
    limits = torch.finfo(getattr(torch, name))
    assert LARGEST[name] == pytest.approx(limits.max, rel=1e-3)
    assert SMALLEST[name] == pytest.approx(limits.smallest_normal * limits.eps)
    assert EXP_LIMIT[name] == pytest.approx(math.log(limits.max), rel=1e-3)


def test_facts_are_read_and_never_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        IncidentEvidence(some_facts()).facts = some_facts()  # type: ignore[misc]


def seen(birth=None, **more):
    return IncidentEvidence(some_facts(birth, **more))


def test_a_direction_and_an_op_are_asked_of_a_birth_that_is_known():
    log = seen(a_birth("aten::log", direction="forward"))
    assert log.born("forward") and log.born("forward", "exp", "log")
    assert not log.born("backward") and not log.born("backward", "log") and not log.born("forward", "exp")
    assert not seen().born("input")


@pytest.mark.parametrize(
    ("op", "inputs", "by_zero"),
    [
        ("aten::log", ((0.0, 0.0),), True),
        ("aten::log", ((0.0, 1.0),), False),
        ("aten::log", ((),), False),
        ("aten::reciprocal", ((0.0,),), True),
        ("aten::div", ((0.0,), (2.0,)), False),
        ("aten::div", ((2.0,), (0.0,)), True),
        ("aten::div", ((0.0,),), False),
        ("aten::addcdiv", ((1.0,), (1.0,), (0.0,)), True),
        ("aten::addcdiv", ((1.0,), (0.0,), (1.0,)), False),
        ("aten::exp", ((0.0,),), False),
    ],
)
def test_a_division_by_zero_is_one_at_every_bad_place(op, inputs, by_zero):
    assert seen(a_birth(op, *(a_tensor(*each) for each in inputs))).by_zero is by_zero


def test_infinity_is_born_where_nothing_undefined_was_computed():
    assert seen(a_birth("aten::exp", kind="overflow", output=a_tensor(nan=1))).born_inf
    assert seen(a_birth("aten::exp", kind="domain", output=a_tensor(inf=1))).born_inf
    assert seen(a_birth("aten::log", kind="domain", output=a_tensor(neginf=1))).born_inf
    assert not seen(a_birth("aten::exp", kind="domain", output=a_tensor(inf=1, nan=1))).born_inf
    assert not seen(a_birth("aten::exp", kind="domain", output=a_tensor())).born_inf
    assert not seen().born_inf


def test_what_made_an_input_is_what_was_seen_and_else_what_the_line_calls():
    known = seen(a_birth("aten::log", a_tensor(0.0, made_by="aten::relu_"), code="y = torch.log(softmax(x))"))
    assert known.made_by(0, "relu", "clamp") and not known.made_by(0, "softmax")
    unknown = seen(a_birth("aten::log", a_tensor(0.0), code="y = torch.log(softmax(x))"))
    assert unknown.made_by(0, "softmax") and not unknown.made_by(0, "relu")
    assert unknown.made_by(1, "softmax")  # an input that was not seen


def test_a_clamp_on_another_line_is_where_a_bound_belongs():
    def clamped(line=30, value=0.0, made_by="aten::relu", params=("w", "b")):
        given = msgspec.structs.replace(a_tensor(value, made_by=made_by), made_at=Frame(TRAIN, line))
        return seen(a_birth("aten::log", given), bad_params=params).clamped_at(0)

    place = clamped()
    assert (place.frame.line, place.module, place.param) == (30, "blocks.0.attn", "w")
    assert clamped(params=()).param is None
    assert clamped(line=47) is None  # the line of the op itself
    assert clamped(value=1.0) is None
    assert clamped(made_by="aten::exp") is None
    assert seen(a_birth("aten::log", a_tensor(0.0, made_by="aten::relu"))).clamped_at(0) is None
    assert seen(a_birth("aten::log")).clamped_at(0) is None


def test_a_write_of_the_program_is_of_the_parameter_and_either_before_the_replay_or_in_it():
    def write(replayed, line=12):
        return WeightWrite(params=("up.weight",), op="copy_", frame=Frame(TRAIN, line), replayed=replayed)

    bad = a_birth(None, kind="input", direction="input", input_name="parameter up.weight")
    assert seen(bad, written=(write(True), write(False))).written_here == write(False)
    assert seen(bad, written=(write(True),)).written_here is None
    other = msgspec.structs.replace(bad, input_name="parameter down.weight")
    assert seen(other, written=(write(False),)).written_here is None

    way = (ChainLink(op="aten::copy_", direction="forward", file=TRAIN, line=12),)
    made = msgspec.structs.replace(bad, input_name="a tensor made before the step", chain=way)
    assert seen(made, written=(write(False), write(True))).carried_into_weights == write(True)
    assert seen(made, written=(write(True, line=13),)).carried_into_weights is None
    assert (
        seen(msgspec.structs.replace(made, input_name="batch[0]"), written=(write(True),)).carried_into_weights is None
    )
    assert seen(msgspec.structs.replace(made, kind="domain"), written=(write(True),)).carried_into_weights is None


def test_growth_needs_three_values_and_a_middle_above_zero():
    assert seen(recent={"loss": [1.0, 8.0]}).growth("loss") == 1.0
    assert seen(recent={"loss": [1.0, 1.0, -8.0]}).growth("loss") == 8.0
    assert seen(recent={"loss": [0.0, 0.0, 8.0]}).growth("loss") == 1.0


def test_distinct_numbers_are_shown_three_at_most():
    assert values((0.0, 0.0, -1.5)) == "0, -1.5"
    assert values((1.0, 2.0, 3.0, 4.0)) == "1, 2, 3"
