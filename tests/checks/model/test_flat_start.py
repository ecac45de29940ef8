"""Gates that begin where their function is flat."""

from __future__ import annotations

from debugtracer.checks.model.flat_start import FlatStart
from debugtracer.trace.facts.zero_parameters import ZeroParameter, ZeroParameters
from tests.checks.facts_at import judged, line, ref


def looks(count=3, flat="relu", live=8, behind=("weather.weight_ih_l0", "weather.weight_hh_l0")):
    gate = ZeroParameter(name="fuse.amount", shape=(32,), flat=flat, made=line(24), used=line(27))
    return [
        ZeroParameters(
            ref=ref(2**n - 1), optimizer=0, kind="Adam", updates=2**n, looks=n + 1, stuck=(gate,), stuck_count=1,
            behind=behind, behind_count=2 * len(behind), live=live,
        )
        for n in range(count)
    ]  # fmt: skip


def test_a_gate_at_0_behind_a_relu_is_an_error():
    (finding,) = judged(FlatStart(), looks(5))
    assert finding.message == (
        "step 0, rank 0: fuse.amount (train.py:24) is 0 everywhere and is used through relu alone, whose derivative at "
        "0 is 0: it cannot move, and 4 parameters (weather.weight_ih_l0, ...) get gradients of exactly 0; expected a "
        "start at which the function has a slope. Start above 0, or use softplus."
    )
    assert (finding.severity, finding.exact, finding.kind) == ("error", True, "dead_relu")
    assert (finding.place.frame, finding.place.symptom_frame, finding.place.module) == (line(24), line(27), "fuse")


def test_another_function_is_an_initialisation():
    (finding,) = judged(FlatStart(), looks(flat="pow", behind=()))
    assert finding.kind == "bad_init"
    assert "through pow alone, whose derivative at 0 is 0: it cannot move; expected" in finding.message


def test_a_sloped_use_too_few_looks_and_a_loss_without_gradient_are_silent():
    assert judged(FlatStart(), looks(flat="")) == []
    assert judged(FlatStart(), looks(2)) == []
    assert judged(FlatStart(), looks(live=0)) == []
