"""log of zero, of a negative number, and 0 * log(0)."""

from __future__ import annotations

from math import inf

import msgspec
import torch

from debugtracer.causes.cause import causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.testing import TRAIN, a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame


def test_fires_on_the_logarithm_of_zero():
    evidence = evidence_of("log-domain", some_facts(a_birth("aten::log", a_tensor(0.0, 0.0))))
    assert evidence is not None
    assert evidence.because == "log takes the logarithm of 0, which is -inf"


def test_fires_on_a_negative_number():
    evidence = evidence_of("log-domain", some_facts(a_birth("aten::log", a_tensor(-0.25))))
    assert evidence is not None
    assert evidence.because == "log takes the logarithm of -0.25, which is NaN"


def test_log1p_has_its_edge_at_minus_one():
    assert evidence_of("log-domain", some_facts(a_birth("aten::log1p", a_tensor(-1.0)))) is not None
    assert evidence_of("log-domain", some_facts(a_birth("aten::log1p", a_tensor(-0.5)))) is None


def test_zero_times_minus_inf_is_a_log_when_a_log_made_it():
    known = evidence_of(
        "log-domain", some_facts(a_birth("aten::mul", a_tensor(0.0), a_tensor(-inf, made_by="aten::log"), kind="0*inf"))
    )
    guessed = evidence_of("log-domain", some_facts(a_birth("aten::mul", a_tensor(0.0), a_tensor(-inf), kind="0*inf")))
    assert known is not None
    assert guessed is not None
    assert known.confidence > guessed.confidence


def test_the_remedy_for_p_log_p_clamps_inside_first():
    evidence = evidence_of(
        "log-domain", some_facts(a_birth("aten::log", a_tensor(0.0), code="entropy = -(p * p.log()).sum()"))
    )
    assert evidence is not None
    assert "p * p.clamp_min(1e-8).log()" in evidence.remedies[0]


def test_an_exact_zero_of_a_softmax_says_how_far_the_scores_lie_apart():
    softmax, sigmoid = (
        evidence_of("log-domain", some_facts(a_birth("aten::log", a_tensor(0.0, made_by=f"aten::{op}"))))
        for op in ("_softmax", "sigmoid")
    )
    assert softmax is not None
    assert sigmoid is not None
    assert softmax.remedies[-1].startswith(
        "softmax gives 0 where a score lies 104 or more below the largest of its row"
    )
    assert not any("learning rate" in text for text in sigmoid.remedies)


def test_softmax_is_zero_from_there_on_in_torch():
    for dtype, distance in ((torch.float16, 17.4), (torch.float32, 104.0), (torch.float64, 745.2)):
        low = torch.softmax(torch.tensor([0.0, -distance], dtype=dtype), 0)[1]
        assert low == 0, dtype
    assert torch.softmax(torch.tensor([0.0, -103.0]), 0)[1] > 0


def test_stays_silent_in_backward_and_on_zero_times_plus_inf():
    assert evidence_of("log-domain", some_facts(a_birth("aten::log", a_tensor(0.0), direction="backward"))) is None
    assert (
        evidence_of("log-domain", some_facts(a_birth("aten::mul", a_tensor(0.0), a_tensor(inf), kind="0*inf"))) is None
    )


def test_the_change_clamps_a_zero_and_leaves_a_negative_argument_alone():
    frame = Frame(TRAIN, 47, "forward", "h = -(p * p.log()).sum()")
    zero, negative = (IncidentEvidence(some_facts(a_birth("aten::log", a_tensor(value)))) for value in (0.0, -0.25))
    change = causes()["log-domain"].change(zero, frame)
    assert change is not None
    assert change.after == ("h = -(p * p.clamp_min(1e-08).log()).sum()",)
    assert causes()["log-domain"].change(negative, frame) is None


def test_a_zero_that_a_relu_makes_is_to_be_bounded_where_it_is_made():
    at = Frame(TRAIN, 31, "forward", "var = F.relu(h)")
    cut = msgspec.structs.replace(a_tensor(0.0), made_by="aten::relu", made_at=at)
    evidence = evidence_of("log-domain", some_facts(a_birth("aten::log", cut)))
    assert evidence is not None
    assert evidence.place is not None
    assert evidence.place.frame == at
    assert evidence.because == "log takes the logarithm of 0, which is -inf, and relu makes that 0 (train.py:31)"
    for other in ({"made_by": "aten::mul"}, {"made_at": None}, {"values": (-1.0,)}):
        told = evidence_of("log-domain", some_facts(a_birth("aten::log", msgspec.structs.replace(cut, **other))))
        assert told is not None
        assert told.place is None


def test_the_argument_of_xlogy_is_its_second_and_that_of_a_logarithm_its_first():
    def told(op, *inputs):
        return evidence_of("log-domain", some_facts(a_birth(op, *(a_tensor(*values) for values in inputs))))

    assert told("aten::xlogy", (5.0,), (0.0,)) is not None
    assert told("aten::xlogy", (0.0,), (5.0,)) is None
    assert told("aten::xlogy", (0.0,)) is not None  # of one number times a tensor
    assert told("aten::log", (0.0,), (5.0,)) is not None
    assert told("aten::log", (5.0,), (0.0,)) is None
    assert told("aten::log", ()).confidence == 0.7
    assert told("aten::log", (0.0, 3.0)).confidence == 0.93
    assert told("aten::mul", (0.0,), (1.0,)) is None
    assert told("aten::mul", (1.0,), (-inf,)) is None
    assert told("aten::mul", (-inf,), (0.0,)).confidence == 0.6


def test_a_square_above_one_was_scaled_after_the_tanh():
    code = "log_prob -= torch.log(1 - action.pow(2) + 1e-6)"
    birth = msgspec.structs.replace(
        a_birth("aten::log", a_tensor(-2.2)), frames=(Frame("/w/model.py", 103, "sample", code),)
    )
    evidence = evidence_of("log-domain", some_facts(birth))
    assert evidence is not None
    assert evidence.because.endswith("which is NaN: action lies outside -1..1")
    assert evidence.remedies[0].startswith("`1 - action ** 2` is the slope of tanh at its own output")
