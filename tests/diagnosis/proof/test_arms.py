"""Training with a change counts as better only where every repeat is, by far more than the repeats differ."""

from __future__ import annotations

import math

import pytest

from debugtracer.diagnosis.proof.arms import Arm, gain, heals, rivals

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
