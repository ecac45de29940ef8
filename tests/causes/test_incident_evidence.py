"""How a cause reads the facts."""

from __future__ import annotations

import pytest

from debugtracer.causes.incident_evidence import IncidentEvidence, base, calls
from debugtracer.testing import a_birth, some_facts


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
