"""Training with a change counts as better only where every repeat is, by far more than the repeats differ."""

from __future__ import annotations

import math

import pytest

from debugtracer.diagnosis.proof.arms import Arm, gain, heals, rivals, surely_better

PLAIN = Arm("unchanged", "", [1.0, 1.02, 0.98])


@pytest.mark.parametrize(
    ("losses", "better"),
    [
        ([0.5, 0.52, 0.48], True),
        ([0.5, 0.52, 1.1], False),  # one repeat is worse
        ([0.9, 0.5, 0.1], False),  # better each time, and by how much is chance
        ([0.96, 0.98, 0.94], False),  # far beyond the spread of the gains, not beyond that of the losses
        ([1.2, 1.2, 1.2], False),
        ([0.5, math.nan, 0.5], False),
        ([math.inf] * 3, False),
    ],
)
def test_what_heals(losses, better):
    assert heals(PLAIN, Arm("without-decay", "", losses)) is better


def test_a_gain_of_a_few_per_cent_heals_nothing_however_steady():
    steady = Arm("unchanged", "", [1.0, 1.0001, 0.9999])
    assert not heals(steady, Arm("without-decay", "", [0.97, 0.9701, 0.9699]))
    assert heals(steady, Arm("without-decay", "", [0.94, 0.9401, 0.9399]))


def test_a_training_that_ends_in_nan_as_it_was_is_no_measure():
    assert not heals(Arm("unchanged", "", [math.nan] * 3), Arm("lower-lr", "", [0.5, 0.5, 0.5]))


def test_a_rival_reaches_half_of_the_gain():
    proof = Arm("without-decay", "", [0.5, 0.5, 0.5])
    half, less = Arm("higher-lr", "", [0.75, 0.74, 0.75]), Arm("lower-lr", "", [0.8, 0.8, 0.8])
    broken = Arm("x", refused="it failed")
    assert rivals(PLAIN, proof, [half, less, broken]) == [half]
    assert gain(PLAIN, broken) == -math.inf


def test_the_row_of_the_verdict():
    trial = PLAIN.trial("reproduced")
    assert (trial.intervention, trial.outcome, trial.repeats) == ("unchanged", "reproduced", 3)
    assert (trial.loss, trial.spread) == (pytest.approx(1.0), pytest.approx(0.02))
    refused = Arm("built-rate", refused="no schedule has moved the learning rate").trial("not healed")
    assert (refused.outcome, refused.loss, refused.spread) == ("could not run", None, None)
    assert refused.note == "no schedule has moved the learning rate"


def test_at_the_limits_of_what_heals_and_of_a_rival():
    plain = Arm("unchanged", "", [1.0, 1.0, 1.0])
    assert heals(plain, Arm("x", "", [0.9375] * 3))
    assert not heals(plain, Arm("x", "", [0.96875] * 3))
    assert surely_better(plain, Arm("x", "", [0.96875] * 3))
    assert not surely_better(plain, plain)
    spread = Arm("unchanged", "", [1.0, 1.125, 0.875])  # a standard deviation of an eighth
    assert not surely_better(spread, Arm("x", "", [0.625, 0.75, 0.5]))  # three of them better
    assert surely_better(spread, Arm("x", "", [0.624, 0.749, 0.499]))
    assert not surely_better(plain, Arm("x", "", [0.625, 0.75, 0.5]))  # the spread is that of the change
    proof = Arm("x", "", [0.5] * 3)
    assert rivals(plain, proof, [Arm("y", "", [0.75] * 3)])
    assert not rivals(plain, proof, [Arm("y", "", [0.7501] * 3), Arm("z", "", [math.nan] * 3)])


def test_no_training_or_a_broken_one_has_no_spread_and_a_negative_loss_has_a_size():
    assert Arm("x", "", [1.0]).spread == 0.0
    assert Arm("x", "", [1.0, math.inf]).spread == 0.0
    assert Arm("x", "", [1.0, math.inf]).mean == math.inf
    assert Arm("x", refused="it failed").trial("not healed").repeats == 1
    below = Arm("unchanged", "", [-1.0] * 3)
    assert heals(below, Arm("x", "", [-1.0625] * 3))
    assert not heals(below, Arm("x", "", [-1.03] * 3))
    assert not surely_better(Arm("unchanged", "", PLAIN.losses), Arm("x", "", [0.1] * 3, refused="it failed"))
