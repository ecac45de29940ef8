"""Weight decay beyond the gradient."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.decay_dominates import DecayDominates
from debugtracer.trace.facts.decay_share import DecayShare
from tests.checks.optimizer.seen import at, found, line

ADAM = {
    "kind": "Adam",
    "decay": 0.5,
    "lr": 5e-3,
    "decoupled": False,
    "adaptive": True,
    "decay_l2": 2.7,
    "grad_l2": 0.03,
}
SGD = {**ADAM, "kind": "SGD", "adaptive": False}
ADAMW = {**ADAM, "kind": "AdamW", "decoupled": True, "decay": 10.0}


def judged(*each):
    facts = [DecayShare(ref=at(n), optimizer=0, frame=line(5), number=n, **one) for n, one in enumerate(each)]
    return found(DecayDominates(), facts)


def test_a_decay_beyond_the_gradient():
    (finding,) = judged(ADAM, ADAM, ADAM)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "weight_decay_too_high", line(5))
    assert finding.message == (
        "step 2, rank 0: the weight decay of Adam (train.py:5), 0.5, adds 2.7 to a gradient of norm 0.03 in each of "
        "the first 3 updates; expected less than the gradient. Divide it by 100."
    )


def test_a_decoupled_one_is_told_by_what_it_takes_off():
    (finding,) = judged(ADAMW, ADAMW, ADAMW)
    assert "takes 5 % off each weight in each of the first 3 updates; expected less than 0.1 %" in finding.message


@pytest.mark.parametrize(
    "healthy",
    [
        [ADAM, ADAM],
        [ADAM, ADAM, {**ADAM, "grad_l2": 0.3}],
        [{**ADAM, "grad_l2": 0.0}] * 3,
        [{**SGD, "decay": 1e-4}] * 3,
        [{**ADAMW, "decay": 0.1}] * 3,
    ],
)
def test_decays_that_people_use_are_silent(healthy):
    assert judged(*healthy) == []


def test_sgd_is_told_where_the_decay_matters():
    assert len(judged(SGD, SGD, SGD)) == 1


def test_the_constant_that_says_it_is_the_line_to_edit():
    (finding,) = judged(ADAM, ADAM, {**ADAM, "decay_frame": line(3)})
    assert finding.place.frame == line(3)
