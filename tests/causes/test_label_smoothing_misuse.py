"""Weight on a masked class."""

from __future__ import annotations

from math import inf

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, some_facts

MASKED = a_tensor(-inf, neginf=32, made_by="aten::_log_softmax")


def test_fires_on_a_soft_target_of_zero_over_a_masked_class_and_beats_the_logarithm():
    verdict = rank(some_facts(a_birth("aten::mul", MASKED, a_tensor(0.0), kind="0*inf")))
    assert verdict.kind == "label_smoothing_misuse"


def test_fires_on_the_sum_of_label_smoothing():
    verdict = rank(some_facts(a_birth("aten::sum", MASKED, kind="domain", output=a_tensor(neginf=4))))
    assert verdict.kind == "label_smoothing_misuse"


def test_stays_silent_when_a_plain_log_made_the_infinity():
    verdict = rank(
        some_facts(a_birth("aten::mul", a_tensor(-inf, neginf=1, made_by="aten::log"), a_tensor(0.0), kind="0*inf"))
    )
    assert verdict.kind == "log_domain"


def test_fires_on_a_smoothed_loss_whose_inner_tensors_are_not_known():
    birth = a_birth("aten::sum", kind="domain", output=a_tensor(inf=1))
    assert rank(some_facts(birth, label_smoothing=0.1)).kind == "label_smoothing_misuse"
    assert rank(some_facts(birth)).kind != "label_smoothing_misuse"
