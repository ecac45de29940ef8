"""Targets that are picked along another dimension than the normalised one."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.picked_across import PickedAcross
from debugtracer.trace.facts.loss_call import Maker
from debugtracer.trace.facts.picked_scores import PickedScores
from tests.checks.facts_at import judged, line, ref


def pick(step: int, low: float = 0.2, high: float = 3.1) -> PickedScores:
    return PickedScores(
        ref=ref(step), frame=line(17), function="gather", number=step, dim=1, size=5, picks=40, low=low, high=high,
        maker=Maker(function="log_softmax", dim=0, size=40, frame=line(16)),
    )  # fmt: skip


def test_a_softmax_over_the_batch_and_a_pick_among_the_classes():
    (finding,) = judged(PickedAcross(), [pick(step) for step in range(4)])
    assert finding.message == (
        "step 0, rank 0: log_softmax (train.py:16) normalises dimension 0 of 40, and gather (train.py:17) picks the "
        "target along dimension 1, where the probabilities sum to 0.2 to 3.1 and not to 1, in 3 of 3 calls; expected "
        "one dimension for both. Normalise the classes: dim=-1."
    )
    assert (finding.severity, finding.kind, finding.place.op) == ("warning", "loss_misuse", "aten::_log_softmax")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(16), line(17))


@pytest.mark.parametrize(
    "facts",
    [
        [pick(step, 1.0, 1.0) for step in range(4)],
        [pick(step, 0.999, 1.001) for step in range(4)],
        [pick(0), pick(1)],
        [pick(0), pick(1), pick(2, 1.0, 1.0), pick(3)],
    ],
    ids=["one dimension", "float16", "two calls", "now and then"],
)
def test_classes_that_compete_are_silent(facts):
    assert judged(PickedAcross(), facts) == []
