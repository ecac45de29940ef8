"""Names of batches and samples."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.wording import at_loader, named, place_of, which, with_samples
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LoaderNote
from tests.checks.data.batches import LOADER, an_oddity


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (None, ""),
        ((), ""),
        ((7,), "sample 7"),
        ((3, 4, 5), "samples 3..5"),
        ((9, 2), "samples 9, 2"),
        (range(0, 20, 2), "samples 0, 2, 4, 6, 8, 10 and 4 more"),
    ],
)
def test_samples_are_named_shortly(samples, text):
    assert named(samples) == text
    assert with_samples(samples) == (f" ({text})" if text else "")


def test_a_batch_is_named_with_the_line_of_its_loader():
    assert which(3, LOADER) == "batch 3 of Corpus (train.py:50)"
    assert which(3, LoaderNote(number=0)) == "batch 3 of a loader"


def test_data_is_edited_where_samples_are_made_and_settings_where_the_loader_is_built():
    assert place_of(an_oddity("blank")).frame == LOADER.made_at
    assert place_of(an_oddity("blank"), Frame("/p/t.py", 3)).frame == Frame("/p/t.py", 3)
    assert at_loader(LOADER).frame == LOADER.frame
