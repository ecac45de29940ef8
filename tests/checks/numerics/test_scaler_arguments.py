"""Arguments of a scaler."""

from __future__ import annotations

import pytest

from debugtracer.checks.numerics.scaler_arguments import ScalerArguments
from debugtracer.trace.facts.amp import AutocastSeen, ScalerSetup
from tests.checks.optimizer.seen import at, found, line


def setup(**more: object) -> ScalerSetup:
    known = {
        "enabled": True,
        "init_scale": 65536.0,
        "growth_factor": 2.0,
        "backoff_factor": 0.5,
        "growth_interval": 2000,
    }
    return ScalerSetup(ref=at(0), scaler=0, frame=line(12), **{**known, **more})  # type: ignore[arg-type]


def cast(dtype: str, scaled: bool) -> AutocastSeen:
    return AutocastSeen(ref=at(0), device="cpu", dtype=dtype, frame=line(20), scaled=scaled)


def test_a_short_growth_interval():
    (finding,) = found(ScalerArguments(), [setup(growth_interval=2)])
    assert finding.message == (
        "step 0, rank 0: GradScaler (train.py:12) grows every 2 updates, so at its limit 33% of all updates are "
        "skipped; expected about 2000. Leave the "
        "arguments of GradScaler at their defaults."
    )
    assert (finding.kind, finding.place.frame) == ("amp_scaler_arguments", line(12))


@pytest.mark.parametrize(
    ("more", "said"),
    [({"backoff_factor": 0.99}, "backs off by 0.99 only"), ({"growth_factor": 16.0}, "grows by 16, far past")],
)
def test_other_arguments(more: dict[str, float], said: str):
    assert [said in f.message for f in found(ScalerArguments(), [setup(**more)])] == [True]


def test_a_scaler_that_is_off_under_float16():
    (finding,) = found(ScalerArguments(), [setup(enabled=False, growth_interval=0), cast("float16", scaled=False)])
    assert "is switched off and the forward (train.py:20) runs under float16 autocast on cpu" in finding.message
    assert finding.severity == "warning"


def test_a_scaler_with_bfloat16_is_a_note():
    assert [f.severity for f in found(ScalerArguments(), [setup(), cast("bfloat16", scaled=True)])] == ["note"]


def test_the_same_constructor_is_told_once():
    facts = [setup(), cast("bfloat16", scaled=True), cast("bfloat16", scaled=True)]
    assert len(found(ScalerArguments(), facts)) == 1


def test_defaults_and_an_off_scaler_without_float16_are_healthy():
    off = setup(enabled=False, growth_interval=0)
    for facts in (
        [setup(), cast("float16", True)],
        [off, cast("bfloat16", False)],
        [off],
        [cast("float16", False)],
        [setup(growth_interval=40)],
    ):
        assert found(ScalerArguments(), facts) == []
