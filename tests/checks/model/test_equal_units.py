"""Can the units of a layer ever become different?"""

from __future__ import annotations

from debugtracer.checks.model.equal_units import EqualUnits
from debugtracer.trace.facts.equal_units import EqualUnits as Locked
from tests.checks.facts_at import judged, line, ref


def matrix(step: int, param: str = "first.weight", **fields: object) -> Locked:
    return Locked(
        ref=ref(step), param=param, module=param.rpartition(".")[0], shape=(24, 10), units=24, value=0.05, **fields
    )  # type: ignore[arg-type]


def test_equal_units_with_equal_gradients_are_told_at_the_line_that_filled_them():
    (finding,) = judged(
        EqualUnits(), [matrix(0, grad_equal=True, frame=line(17)), matrix(0, "second.weight", grad_equal=True)]
    )
    assert finding.message == (
        "step 0, rank 0: all 24 units of first.weight are equal (0.05) and so are their gradients: they stay equal for "
        "ever; "
        "expected random weights. Initialise with xavier_uniform_ or kaiming_uniform_."
    )
    assert (finding.kind, finding.place.param, finding.place.frame.line) == ("bad_init", "first.weight", 17)


def test_zeros_behind_a_gate_have_time_until_the_third_update():
    rests = [matrix(step, grad_zero=True, looks=step + 1) for step in range(3)]
    assert not judged(EqualUnits(), rests[:2])
    assert not judged(EqualUnits(), [*rests[:2], matrix(2)])
    (finding,) = judged(EqualUnits(), rests)
    assert finding.iteration == 0
    assert "their gradients are 0 in 3 updates: they never move" in finding.message


def test_a_head_that_starts_at_zero_is_silent():
    assert not judged(EqualUnits(), [matrix(step) for step in range(3)])
