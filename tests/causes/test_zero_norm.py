"""A vector of zeros over its norm."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame


def test_fires_when_a_norm_made_the_divisor():
    birth = a_birth(
        "aten::div", a_tensor(0.0, 0.0), a_tensor(0.0, shape=(32, 1), made_by="aten::linalg_vector_norm"), kind="0/0"
    )
    assert evidence_of("zero-norm", some_facts(birth)) is not None


def test_fires_by_the_source_line_when_the_maker_is_not_known():
    birth = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), kind="0/0", code="z = z / z.norm(dim=-1, keepdim=True)")
    assert evidence_of("zero-norm", some_facts(birth)) is not None


def test_a_comment_on_the_line_is_not_read():
    birth = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0), kind="0/0", code="z = z / total  # no norm(z) here")
    assert evidence_of("zero-norm", some_facts(birth)) is None


def test_stays_silent_on_a_sum():
    birth = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::sum"), kind="0/0", code="z = z / z.norm()")
    assert evidence_of("zero-norm", some_facts(birth)) is None


def test_a_root_of_a_sum_of_squares_counts_as_a_norm():
    birth = a_birth("aten::div", a_tensor(0.0), a_tensor(0.0, made_by="aten::sqrt"), kind="0/0", code="x / scale")
    evidence = evidence_of("zero-norm", some_facts(birth))
    assert evidence is not None
    assert evidence.confidence == 0.8


def test_a_weight_norm_whose_direction_is_zeros():
    birth = a_birth(
        "aten::_weight_norm_interface",
        a_tensor(0.0, 0.0),
        a_tensor(0.0, 0.0),
        kind="domain",
    )
    made = Frame("/home/someone/tcn.py", 39, "init", "self.conv2.weight = torch.zeros_like(self.conv2.weight)")
    evidence = evidence_of("zero-norm", msgspec.structs.replace(some_facts(birth), made=(made,)))
    assert evidence is not None
    assert evidence.place is not None
    assert evidence.place.frame == made
    assert "weight_norm divides a direction of zeros by its norm, which is 0/0, made at tcn.py:39" in evidence.because
    other = a_birth("aten::_weight_norm_interface", a_tensor(0.5, 0.0), a_tensor(0.0, 0.0), kind="domain")
    assert evidence_of("zero-norm", some_facts(other)) is None
