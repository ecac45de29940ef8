"""Units of a ReLU that never answer."""

from __future__ import annotations

from debugtracer.checks.model.dead_units import DeadUnits
from debugtracer.checks.presets import PRESETS
from tests.checks.test_snapshots import a_snapshot, an_activation, judged
from tests.trace.facts.test_health import a_row


def relus(*shares, **more):
    return [
        a_snapshot(step, an_activation("net.1:relu", "relu", dead_units=share, **more))
        for step, share in enumerate(shares)
    ]


def test_a_dead_layer_is_a_warning_after_three_snapshots():
    (finding,) = judged(DeadUnits(), *relus(1.0, 1.0, 0.95))
    assert (finding.severity, finding.kind, finding.place.module, finding.step) == ("warning", "dead_relu", "net.1", 0)
    assert finding.message == (
        "step 0, rank 0: 95% of the 32 units of net.1:relu are zero for all rows in 3 snapshots; expected below 90%. "
        "It was so before any update: look at the bias and the scale of the inputs."
    )


def test_three_quarters_of_a_layer_are_a_note_and_less_is_nothing():
    assert [f.severity for f in judged(DeadUnits(), *relus(0.76, 0.8, 0.85))] == ["note"]
    assert judged(DeadUnits(), *relus(0.75, 0.8, 0.85)) == []


def test_the_half_that_an_article_gives_is_in_its_preset():
    assert [f.severity for f in judged(DeadUnits(**PRESETS["seed"]["model/dead-units"]), *relus(0.51, 0.7, 0.6))] == [
        "note"
    ]


def test_it_must_stay_dead_and_the_batch_must_be_large_enough():
    assert judged(DeadUnits(), *relus(1.0, 0.1, 1.0)) == []
    assert judged(DeadUnits(), *relus(1.0, 1.0, 1.0, shape=(8, 32))) == []
    assert judged(DeadUnits(), *relus(None, None, None)) == []


def test_a_bias_far_below_zero_from_the_start_is_named():
    low = a_row("net.0.bias", shape=(32,), low=-6.0, high=-6.0, mean=-6.0)
    (finding,) = judged(
        DeadUnits(), *(a_snapshot(step, an_activation("net.1:relu", "relu", dead_units=1.0), low) for step in range(3))
    )
    assert finding.message.endswith("expected below 90%. net.0.bias starts at -6: start it at 0.")
    (finding,) = judged(
        DeadUnits(),
        *(a_snapshot(step, an_activation("net.1:relu", "relu", dead_units=1.0), low) for step in (100, 200, 300)),
    )
    assert "Lower the learning rate" in finding.message


def test_of_a_relu_written_in_a_larger_module_the_layer_with_the_sunk_bias_is_named():
    low = a_row("net.first.bias", shape=(32,), low=-6.0, high=-6.0, mean=-6.0)
    (finding,) = judged(
        DeadUnits(), *(a_snapshot(step, an_activation("net:relu", "relu", dead_units=1.0), low) for step in range(3))
    )
    assert finding.place.module == "net.first"


def test_a_layer_is_told_once_and_again_only_when_it_gets_worse():
    assert len(judged(DeadUnits(), *relus(*[1.0] * 6))) == 1
    worse = judged(DeadUnits(), *relus(0.8, 0.8, 0.8, 0.95, 0.95, 0.95))
    assert [f.severity for f in worse] == ["note", "warning"]


def test_of_several_sunk_biases_the_first_is_named():
    low = [a_row(f"net.{n}.bias", shape=(32,), low=-6.0, high=-6.0, mean=-6.0) for n in (0, 2)]
    (finding,) = judged(
        DeadUnits(), *(a_snapshot(step, an_activation("net.1:relu", "relu", dead_units=1.0), *low) for step in range(3))
    )
    assert "net.0.bias starts at -6" in finding.message
