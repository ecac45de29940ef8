"""Labels that come in blocks."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.class_skew import ClassSkew
from debugtracer.trace.facts.batch_content import LeafProfile
from tests.checks.data.batches import LOADER, a_profile, a_window

BLOCKS = LeafProfile(path="batch[1]", role="label", entropy=0.01, pooled_entropy=1.54, classes=5, skewed_run=32)


def test_one_class_after_the_other_is_loud_at_the_loader():
    (finding,) = ClassSkew().judge(a_window(a_profile(BLOCKS)))
    assert finding.message == (
        "step 99, rank 0: batches of Corpus hold about one class of batch[1] (entropy 0.01 of 1.54 nats over all, 32 "
        "batches in a row); expected a mixture. "
        "Shuffle: DataLoader(..., shuffle=True)."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_class_skew", LOADER.frame)


@pytest.mark.parametrize(
    "profile",
    [
        a_profile(BLOCKS, training=False),
        a_profile(BLOCKS, loader=msgspec.structs.replace(LOADER, sampler="EpisodeSampler")),
        a_profile(msgspec.structs.replace(BLOCKS, skewed_run=9)),
    ],
    ids=["validation is sorted", "a sampler chooses classes", "a short block"],
)
def test_what_is_meant_so_is_silent(profile):
    assert not list(ClassSkew().judge(a_window(profile)))


def test_ten_batches_in_a_row_are_enough_and_a_pool_of_one_class_is_no_skew():
    def told(**change):
        return len(list(ClassSkew().judge(a_window(a_profile(msgspec.structs.replace(BLOCKS, **change))))))

    assert (told(skewed_run=10), told(skewed_run=9)) == (1, 0)
    assert (told(pooled_entropy=0.0), told(pooled_entropy=None)) == (0, 0)
    assert told(entropy=None) == 1
