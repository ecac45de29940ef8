"""Does a loss train padding alone?"""

from __future__ import annotations

import pytest

from debugtracer.checks.data.padding_trained import PaddingTrained
from debugtracer.trace.facts.trained_padding import TrainedPadding
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2, **more: object) -> list[TrainedPadding]:
    given = {"value": 0.0, "whole": True, "kept": 0.38, "others": 11, "root": "Tagger", "loss": "cross_entropy"}
    given |= {"loss_frame": line(46), "compared": line(47)} | more
    return [TrainedPadding(ref=ref(step), **given) for step in range(count)]  # type: ignore[arg-type]


def test_a_mask_that_keeps_the_padding_is_told():
    (finding,) = judged(PaddingTrained(), looks(3))
    assert finding.message == (
        "step 0, rank 0: the gradient of cross_entropy (train.py:46) comes to 38% of the positions that Tagger "
        "answers, and the targets of all these are the padding 0, in 2 looks; at the others, with 11 different "
        "targets, it is exactly 0; expected the opposite. Turn the mask round (train.py:47)."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("error", line(47), line(46))


def test_a_loss_by_hand_has_no_name():
    (finding,) = judged(PaddingTrained(), looks(loss="", loss_frame=None, compared=None))
    assert "the gradient of the loss comes to 38%" in finding.message
    assert finding.message.endswith("Turn the mask round.")


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_look_is_no_proof(given):
    assert not judged(PaddingTrained(), given, ended=True)
