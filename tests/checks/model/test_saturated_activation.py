"""Squashing functions that start flat."""

from __future__ import annotations

from debugtracer.checks.model.saturated_activation import SaturatedActivation
from debugtracer.trace.birth import Frame
from tests.checks.test_snapshots import a_snapshot, an_activation, an_update, judged
from tests.trace.facts.test_health import a_row


def squashed(function, *shares, first=0, **more):
    more = {"mean": 0.5 if function == "sigmoid" else 0.0} | more
    return [
        a_snapshot(first + i, an_activation(f"act:{function}", function, saturated=share, **more))
        for i, share in enumerate(shares)
    ]


def test_a_flat_start_is_a_warning_when_the_first_steps_are_over():
    (finding,) = judged(SaturatedActivation(), *squashed("tanh", 0.99, 0.97, 0.98))
    assert (finding.severity, finding.kind, finding.place.op) == ("warning", "bad_init", "aten::tanh")
    assert finding.message == (
        "step 0, rank 0: 97% of the values of act:tanh are beyond +-0.99 in the first 3 steps; expected below 80% at "
        "the start. "
        "Normalise the inputs or initialise the weights smaller."
    )
    assert "outside 0.01..0.99" in judged(SaturatedActivation(), *squashed("sigmoid", 0.9, 0.9, 0.9))[0].message


def test_half_flat_is_a_note_and_less_is_nothing():
    assert [f.severity for f in judged(SaturatedActivation(), *squashed("tanh", 0.6, 0.7, 0.9))] == ["note"]
    assert judged(SaturatedActivation(), *squashed("tanh", 0.4, 0.9, 0.9)) == []


def test_gates_that_close_later_confident_softmaxes_and_tiny_tensors_are_left_alone():
    assert (
        judged(
            SaturatedActivation(), *squashed("sigmoid", 0.0, 0.0, 0.0), *squashed("sigmoid", 1.0, 1.0, 1.0, first=100)
        )
        == []
    )
    assert judged(SaturatedActivation(), *squashed("softmax", 1.0, 1.0, 1.0)) == []
    assert judged(SaturatedActivation(), *squashed("tanh", 1.0, 1.0, 1.0, sampled=32)) == []


def test_values_at_one_end_are_an_offset_such_as_the_prior_of_a_focal_loss():
    for mean in (0.01, 0.99):
        assert judged(SaturatedActivation(), *squashed("sigmoid", 1.0, 1.0, 1.0, mean=mean)) == []
        assert judged(SaturatedActivation(), *squashed("tanh", 1.0, 1.0, 1.0, mean=2 * mean - 1)) == []
    assert judged(SaturatedActivation(), *squashed("sigmoid", 1.0, 1.0, 1.0, mean=0.9))


def test_a_layer_that_starts_wide_is_named():
    wide = (an_activation("a", "Linear", std=30.0), a_row("a.weight", shape=(64, 64), std=10.0, low=-40.0, high=40.0))
    act = an_activation("act:tanh", "tanh", saturated=0.99)
    update = an_update("a.weight", weight_l2=640.0)
    (finding,) = judged(SaturatedActivation(), *(a_snapshot(step, *wide, act, params=(update,)) for step in range(3)))
    assert finding.message.endswith(
        "expected below 80% at the start. The weights of a multiply by 80: initialise them smaller."
    )


def flat_line(*inside):
    line = Frame("/p/likelihood.py", 44)
    outer = an_activation("tanh at line 44", "tanh", saturated=0.9, mean=0.0, outside=True, frame=line)
    return [a_snapshot(step, *inside, outer) for step in range(3)]


def test_a_distribution_outside_the_modules_is_no_activation_of_theirs():
    assert not judged(SaturatedActivation(), *flat_line(an_activation("net:tanh", "tanh", saturated=0.1, mean=0.0)))


def test_a_model_written_without_modules_is_told_with_its_file():
    (finding,) = judged(SaturatedActivation(), *flat_line())
    assert "90% of the values of tanh (likelihood.py:44) are beyond" in finding.message
