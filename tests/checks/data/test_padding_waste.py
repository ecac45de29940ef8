"""Padding that costs time."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.padding_waste import PaddingWaste
from debugtracer.trace.facts.batch_content import LeafProfile
from tests.checks.data.batches import LOADER, a_profile, a_window

FIXED = LeafProfile(path="batch[0]", role="ids", pad_share=0.71, longest_share=0.48, longest=61, shortest=4, width=128)


def test_a_fixed_length_is_a_note_with_what_would_be_saved():
    (finding,) = PaddingWaste().judge(a_window(a_profile(FIXED)))
    assert finding.message == (
        "step 99, rank 0: 71 % of batch[0] of Corpus is padding (longest 61 of 128 tokens in a batch, shortest 4); "
        "expected below 30 %. Padding to the longest "
        "of each batch saves 52 % of the positions, batches of like lengths most of the other 19 %."
    )
    assert (finding.severity, finding.place.frame, finding.evidence["saved"]) == ("note", LOADER.frame, 0.52)


@pytest.mark.parametrize(
    "change",
    [{"pad_share": 0.3}, {"shortest": 40}, {"longest_share": 1.0, "pad_share": 0.5}, {"pad_share": None}],
    ids=["little padding", "like lengths", "padded to the longest", "no padding"],
)
def test_what_cannot_be_helped_is_silent(change):
    assert not list(PaddingWaste().judge(a_window(a_profile(msgspec.structs.replace(FIXED, **change)))))


def test_it_is_said_once():
    assert len(list(PaddingWaste().judge(a_window(a_profile(FIXED), a_profile(FIXED, seen=200))))) == 1


def test_a_few_batches_say_nothing():
    assert not list(PaddingWaste().judge(a_window(a_profile(FIXED, seen=19))))


def told(looked=20, **change):
    return len(list(PaddingWaste().judge(a_window(a_profile(msgspec.structs.replace(FIXED, **change), seen=looked)))))


def test_at_each_limit():
    assert (told(20), told(19)) == (1, 0)
    assert (told(pad_share=0.301), told(pad_share=0.3)) == (1, 0)
    assert (told(longest=37, shortest=4), told(longest=36, shortest=4)) == (1, 0)
    assert (told(pad_share=0.4, longest_share=0.89), told(pad_share=0.4, longest_share=0.91)) == (1, 0)
    assert (told(pad_share=0.51, longest_share=None), told(pad_share=0.5, longest_share=None)) == (1, 0)
