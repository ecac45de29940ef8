"""What the indices of a Subset are in the whole dataset, in words."""

from __future__ import annotations

from debugtracer.trace.whole_dataset import WholeDataset


def test_one_sample_several_and_samples_of_which_it_is_not_known():
    assert WholeDataset(name="Rows", indices=(7,)).words([2]) == "Sample 2 of the Subset is sample 7 of Rows."
    told = WholeDataset(name="Rows", indices=tuple(range(10, 18))).words(range(8))
    assert told == "Samples 0, 1, 2, 3, 4, 5 of the Subset are samples 10, 11, 12, 13, 14, 15 of Rows (and 2 more)."
    assert WholeDataset(name="Rows").words([2]) == "Samples are counted in the Subset that the loader reads."
