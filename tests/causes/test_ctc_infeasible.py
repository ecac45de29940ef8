"""No alignment."""

from __future__ import annotations

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts


def test_fires_on_an_infinite_ctc_loss():
    verdict = rank(
        some_facts(a_birth("aten::_ctc_loss", a_tensor(-3.0), kind="overflow", output=a_tensor(shape=(4,), inf=1)))
    )
    assert verdict.kind == "ctc_infeasible"
    assert verdict.remedy[1].startswith("pass zero_infinity=True")


def test_stays_silent_on_other_losses():
    assert evidence_of("ctc-infeasible", some_facts(a_birth("aten::nll_loss_forward", kind="0/0"))) is None
