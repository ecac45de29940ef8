"""A backward that the user wrote."""

from __future__ import annotations

import msgspec

from debugtracer.causes.custom_backward_wrong import CustomBackwardWrong
from debugtracer.causes.finding_evidence import FindingEvidence
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import TRAIN, a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame

BIRTH = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), direction="backward", kind="0/0")
OWN = msgspec.structs.replace(
    BIRTH, frames=(Frame(file=TRAIN, line=12, function="backward", code="return grad * x / x.abs()"),)
)


def test_fires_inside_a_function_called_backward_and_beats_the_general_cause():
    assert evidence_of("custom-backward-wrong", some_facts(OWN)) is not None
    assert rank(some_facts(OWN)).kind == "custom_backward_wrong"


def test_stays_silent_when_autograd_derived_it():
    assert evidence_of("custom-backward-wrong", some_facts(BIRTH)) is None
    assert rank(some_facts(BIRTH)).kind == "backward_nan_op"


def test_a_finite_gradient_that_is_wrong_gets_no_guard():
    frame = Frame(file=TRAIN, line=12, function="backward", code="return x * 2 / len(x)")
    cause = CustomBackwardWrong()
    assert cause.change(IncidentEvidence(some_facts(OWN)), frame) is not None
    assert cause.change(FindingEvidence(()), frame) is None
