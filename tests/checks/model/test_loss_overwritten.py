"""Losses that are overwritten."""

from __future__ import annotations

from debugtracer.checks.model.loss_overwritten import LossOverwritten
from debugtracer.trace.facts.overwritten_loss import OverwrittenLoss
from tests.checks.optimizer.seen import at, found, line


def judged(*looks):
    return found(
        LossOverwritten(),
        [
            OverwrittenLoss(
                ref=at(step),
                loss="cross_entropy",
                frame=line(96),
                calls=6,
                only_last=last,
                is_least=least,
                is_most=most,
            )
            for step, (last, least, most) in enumerate(looks)
        ],
    )


PLAIN = (True, False, False)


def test_three_steps_are_needed_and_it_is_said_once():
    assert judged(PLAIN, PLAIN) == []
    (finding,) = judged(*[PLAIN] * 5)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "result_discarded", line(96))
    assert finding.message == (
        "step 2, rank 0: of the 6 losses that cross_entropy (train.py:96) computes in a step only the last reaches the "
        "backward, in 3 of 3 steps looked at; expected all of them. Add them up: loss = loss + ..."
    )


def test_a_loss_that_may_have_been_chosen_is_silent():
    assert judged(*[(True, True, False)] * 5) == []
    assert judged(*[(True, False, True)] * 5) == []
    assert judged((False, False, False), *[PLAIN] * 5) == []
