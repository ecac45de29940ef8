"""An eps that does not exist in half precision."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.eps_dtype import EpsDtype
from debugtracer.trace.facts.effects import HalfState
from tests.checks.optimizer.seen import at, found, line


def half(eps: float, dtype: str = "float16", least: float = 5.960464477539063e-08) -> HalfState:
    return HalfState(
        ref=at(0), optimizer=0, kind="Adam", frame=line(28), eps=eps, dtype=dtype, least=least, param="embed.weight"
    )


def test_the_default_eps_is_0_in_float16():
    (finding,) = found(EpsDtype(), [half(1e-8)])
    assert finding.message == (
        "step 0, rank 0: eps 1e-08 of Adam (train.py:28) is 0 in float16, whose least number is 5.96e-08, in which it "
        "keeps the moments of embed.weight; "
        "expected eps of 1e-4 or float32 parameters. Keep float32 weights and use autocast."
    )
    assert (finding.kind, finding.exact, finding.place.frame) == ("optimizer_eps_underflow", True, line(28))


@pytest.mark.parametrize("healthy", [half(1e-4), half(4e-8), half(1e-8, "bfloat16", 9.2e-41)])
def test_eps_that_the_dtype_holds_is_healthy(healthy: HalfState):
    assert found(EpsDtype(), [healthy]) == []
