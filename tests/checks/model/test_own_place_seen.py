"""Does an output read what it is to say?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.own_place_seen import OwnPlaceSeen
from debugtracer.trace.facts.own_places import OwnPlaces
from tests.checks.facts_at import judged, line, ref


def trial(**more: object) -> OwnPlaces:
    given = {"root": "Made", "tried": 16, "own": 16, "reached": 120, "ordered": True, "called": line(41)}
    given |= {"loss": "binary_cross_entropy_with_logits", "loss_frame": line(41), "module": "last", "frame": line(26)}
    return OwnPlaces(ref=ref(0), **(given | more))  # type: ignore[arg-type]


def test_outputs_that_see_their_own_place_are_told():
    (finding,) = judged(OwnPlaceSeen(), [trial()])
    assert finding.message == (
        "step 0, rank 0: of 16 places of the input of Made that were changed one at a time, 16 change the output at "
        "their own place, which binary_cross_entropy_with_logits (train.py:41) asks for, and all outputs read places "
        "in one order; expected none, as each is to be told from those before it. Keep what is strictly before in the "
        "mask of last (train.py:26)."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("error", "label_leak", line(26))


def test_a_model_without_a_masked_layer_is_told_where_it_is_called():
    (finding,) = judged(OwnPlaceSeen(), [trial(module=None, frame=None)])
    assert finding.message.endswith("Keep what is strictly before.")
    assert finding.place.frame == line(41)


@pytest.mark.parametrize("more", [{"ordered": False}, {"own": 12}, {"reached": 7}, {"own": 0}])
def test_other_models_are_silent(more):
    assert not judged(OwnPlaceSeen(), [trial(**more)], ended=True)
