"""First updates that sweep the initial weights away."""

from __future__ import annotations

from debugtracer.checks.optimizer.weights_swept import WeightsSwept
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.window import LOSS, PARAM_L2
from tests.checks.optimizer.seen import at


def snapshot(l2, step=0):
    """The weights before an update: 100 numbers."""
    row = ParamDynamics(name="weight", numel=100, dtype="float32", optimizer="SGD", lr=0.1, weight_l2=l2)
    return Health(ref=at(step), tensors=(), params=(row,))


def judged(losses, sizes, entropy=None, began=None):
    check = WeightsSwept()
    judge, found = Judge({check.slug: check}), []
    for step, (loss, size) in enumerate(zip(losses, sizes, strict=True)):
        calls = [] if entropy is None or step else [
            LossCall(ref=at(0), loss="cross_entropy", classes=30, value=loss, prior_entropy=entropy)
        ]  # fmt: skip
        calls += [] if began is None else [snapshot(began if step == 0 else 10.0, step)]
        found += judge.judge(at(step), {LOSS: loss, PARAM_L2: size}, calls)
    return [*found, *judge.end(at(len(losses) - 1))]


SWEPT = [10.0 * min(1 + 0.3 * i, 9.0) for i in range(120)]
STILL = [10.0 + 0.01 * i for i in range(120)]
FLAT = [1.0, 600.0, 30.0] + [1.01] * 117


def test_a_loss_that_is_not_below_its_first_value_is_told_at_the_end():
    (finding,) = judged(FLAT, SWEPT)
    assert (finding.severity, finding.kind) == ("warning", "lr_too_high")
    assert finding.message == (
        "step 119, rank 0: the first 32 updates multiplied the norm of all weights by 9, and after 120 steps the loss, "
        "1.01, is not below 0.95, 95% of the first; expected below 3 times, or a loss that falls. Lower the learning "
        "rate."
    )


def test_a_loss_at_the_entropy_of_the_classes_is_told():
    losses = [3.4] + [2.7] * 119
    (finding,) = judged(losses, SWEPT, entropy=2.75)
    assert "is not below 2.67, 97% of the entropy of the classes" in finding.message
    assert judged(losses, SWEPT, entropy=2.9) == []


def test_weights_that_stay_a_loss_that_falls_and_a_short_run_are_silent():
    assert judged(FLAT, STILL) == []
    assert judged([1.0] + [0.3] * 119, SWEPT) == []
    assert judged(FLAT[:60], SWEPT[:60]) == []
    late = [10.0] * 40 + [90.0] * 80
    assert judged(FLAT, late) == []


def test_at_the_threshold_of_a_hundred_steps():
    assert judged(FLAT[:99], SWEPT[:99]) == []
    assert len(judged(FLAT[:100], SWEPT[:100])) == 1


def test_at_the_limits_of_the_norm_and_of_the_loss():
    assert judged(FLAT, [10.0 * min(1 + 0.3 * i, 2.99) for i in range(120)]) == []
    assert len(judged(FLAT, [10.0 * min(1 + 0.3 * i, 3.0) for i in range(120)])) == 1
    assert judged([1.0, 600.0, 30.0] + [0.95] * 117, SWEPT) == []
    assert len(judged([1.0, 600.0, 30.0] + [0.951] * 117, SWEPT)) == 1
    assert judged([-1.0, 600.0, 30.0] + [1.0] * 117, SWEPT) == []  # no loss that ends at 0


def test_the_last_32_losses_are_what_the_loss_is_now():
    assert judged([1.0, 600.0] + [1.01] * 101 + [0.3] * 17, SWEPT) == []
    assert len(judged([1.0, 600.0] + [1.01] * 103 + [0.3] * 15, SWEPT)) == 1


def test_a_loss_that_still_falls_leaves_it_open():
    first = [1.0, 600.0] + [1.2] * 54
    assert judged([*first, *[1.2] * 32, *[1.175] * 32], SWEPT) == []
    assert len(judged([*first, *[1.2] * 32, *[1.176] * 32], SWEPT)) == 1


def test_weights_that_began_near_0_have_nothing_to_sweep_away():
    assert judged(FLAT, SWEPT, began=0.0) == judged(FLAT, SWEPT, began=0.0099) == []
    assert len(judged(FLAT, SWEPT, began=0.0101)) == 1
