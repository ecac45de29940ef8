"""Half-precision weights that their updates do not reach."""

from __future__ import annotations

from debugtracer.checks.numerics.half_stalled import HalfStalled
from tests.checks import facts_at
from tests.checks.test_snapshots import a_snapshot, an_update, judged
from tests.trace.facts.test_half_weights import half


def steps(*shares, lr=1e-3):
    return [
        a_snapshot(
            i, params=(an_update("head.weight", dtype="bfloat16", stalled=s, lr=lr), an_update("norm.weight", numel=8))
        )
        for i, s in enumerate(shares)
    ]


def test_updates_that_are_rounded_away_twice_in_a_row_are_a_warning():
    (finding,) = judged(HalfStalled(), *steps(0.97, 0.98))
    assert (finding.severity, finding.kind, finding.place.param) == ("warning", "half_weights_stalled", "head.weight")
    assert finding.message == (
        "step 0, rank 0: 97% of the updates of 1 bfloat16 weights (lr 0.001, AdamW) change nothing, most in "
        "head.weight; expected below 90%. "
        "Keep float32 weights and use autocast."
    ).replace("AdamW", "Adam")


def test_a_resting_rate_one_stalled_step_and_float32_are_left_alone():
    assert judged(HalfStalled(), *steps(1.0, 1.0, lr=0.0)) == []
    assert judged(HalfStalled(), *steps(0.97, 0.5)) == []
    assert judged(HalfStalled(), *steps(None, None)) == []


def looks(*shares, rates=None, every=100, stalled=0.7):
    return [
        a_snapshot(
            i * every,
            params=(
                an_update("head.weight", dtype="bfloat16", stalled=stalled, lr=rate, meant_l2=0.1, arrived=share),
                an_update("body.weight", dtype="bfloat16", stalled=stalled, lr=rate, meant_l2=0.001, arrived=0.9),
                an_update("norm.weight", numel=8),
            ),
        )
        for i, (share, rate) in enumerate(zip(shares, rates or [1e-3] * len(shares), strict=True))
    ]


LOST = (0.4, 0.41, 0.3, 0.28, 0.2)


def test_less_than_half_of_what_adam_means_in_every_look_is_a_warning():
    (finding,) = judged(HalfStalled(), *looks(*LOST))
    assert (finding.severity, finding.kind, finding.place.param) == ("warning", "half_weights_stalled", "head.weight")
    assert finding.message == (
        "step 0, rank 0: of the updates that Adam means for 2 bfloat16 weights (lr 0.001) 37% arrives on average in 3 "
        "steps that were looked at (30% in the last), the rest is rounded away, most of it in head.weight; expected "
        "50% or more. Keep float32 weights and use autocast."
    )


def test_one_look_at_which_more_arrives_few_looks_and_a_low_loss_are_left_alone():
    assert judged(HalfStalled(), *looks(0.7, *LOST)) == []
    assert judged(HalfStalled(), *looks(*LOST[:2])) == []
    assert judged(HalfStalled(), *looks(*LOST, every=1)) == []
    assert judged(HalfStalled(), *looks(*LOST), loss=(1.0, 0.05)) == []


def test_a_share_that_falls_below_half_after_a_warm_up_is_a_warning():
    (finding,) = judged(HalfStalled(), *looks(0.1, 0.59, 0.47, 0.39, rates=(1e-4, *[1e-3] * 3)))
    assert "48% arrives on average in 3 steps that were looked at (39% in the last)" in finding.message
    assert judged(HalfStalled(), *looks(0.59, 0.53, 0.47)) == []  # half of it arrives on average
    assert judged(HalfStalled(), *looks(0.39, 0.47, 0.59)) == []  # and more and more


def test_a_warm_up_and_a_decay_are_left_alone():
    assert judged(HalfStalled(), *looks(0.1, 0.2, 0.3, 0.4, 0.8, rates=(1e-4, 3e-4, 5e-4, 7e-4, 1e-3))) == []
    assert judged(HalfStalled(), *looks(0.9, 0.4, 0.3, 0.2, 0.1, rates=(1e-3, 8e-4, 5e-4, 3e-4, 0.0))) == []
    assert len(judged(HalfStalled(), *looks(0.1, *LOST, rates=(1e-4, *[1e-3] * 5)))) == 1


def test_weights_that_stand_in_a_warm_up_and_after_a_decay_are_left_alone():
    def at(*pairs):
        rows = [an_update("head.weight", dtype="bfloat16", stalled=share, lr=rate) for share, rate in pairs]
        return judged(HalfStalled(), *(a_snapshot(i, params=(row,)) for i, row in enumerate(rows)))

    assert at((0.98, 1e-5), (0.97, 2e-5), (0.95, 3e-5), (0.4, 1e-3)) == []
    assert at((0.4, 1e-3), (0.4, 1e-3), (0.95, 1e-5), (0.99, 1e-5)) == []
    assert len(at((0.95, 1e-3), (0.95, 9.5e-4))) == 1


def test_snapshots_of_two_optimizers_are_told_apart():
    other = [
        a_snapshot(i * 100, params=(an_update("critic", dtype="bfloat16", stalled=0.1, meant_l2=1.0, arrived=1.0),))
        for i in range(4)
    ]
    mixed = [fact for pair in zip(looks(*LOST[:4]), other, strict=True) for fact in pair]
    assert len(judged(HalfStalled(), *mixed)) == 1
    assert judged(HalfStalled(), *other) == []


def test_the_line_that_cast_the_weights_is_named():
    cast = half("Adam")
    (finding,) = facts_at.judged(HalfStalled(), [half("SGD"), cast, *looks(*LOST)])
    assert finding.place.frame == cast.cast
    (finding,) = facts_at.judged(HalfStalled(), [half("SGD"), *looks(*LOST)])
    assert finding.place.frame != cast.cast


def test_the_weight_that_stands_most_is_no_weight_that_moves():
    """Many small ones stand, and a larger one arrives whole."""
    small = tuple(an_update(f"layers.{n}.weight", dtype="bfloat16", stalled=1.0, numel=45) for n in range(20))
    large = an_update("head.weight", dtype="bfloat16", stalled=0.0, numel=95)
    (finding,) = judged(HalfStalled(), *(a_snapshot(step, params=(large, *small)) for step in range(2)))
    assert finding.place.param == "layers.0.weight"
