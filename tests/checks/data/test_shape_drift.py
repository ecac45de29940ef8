"""The shape of a tensor in the middle of a run."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.shape_drift import ShapeDrift
from tests.checks.data.batches import a_change, a_window


def test_another_rank_is_loud():
    (finding,) = ShapeDrift().judge(a_window(a_change("rank", "(*,)", "(*, 1)")))
    assert finding.message == (
        "step 30, rank 0: batch[1] of batch 30 of Corpus (train.py:50) has shape (*, 1), before it (*,) in 30 batches; "
        "expected one rank. "
        "Look at how the sample is made."
    )
    assert (finding.severity, finding.kind) == ("warning", "data_shape_mismatch")


@pytest.mark.parametrize(
    "change",
    [
        a_change("rank", "(*, 4)", "(4,)", rows=1),
        a_change("rank", "(*, 4)", "(4,)", step=99),
        a_change("rank", "(*,)", "(*, 1)", batches=10),
        a_change("1", "(*, 128)", "(*, 97)"),
    ],
    ids=["one row", "last batch", "little known", "a length"],
)
def test_what_healthy_data_does_is_a_note(change):
    (finding,) = ShapeDrift().judge(a_window(change))
    assert finding.severity == "note"


def test_another_size_in_the_first_batches_is_how_padded_data_vary():
    assert not list(ShapeDrift().judge(a_window(a_change("1", "(*, 6)", "(*, 5)", batches=19))))


def test_dtypes_are_not_its_business():
    assert not list(ShapeDrift().judge(a_window(a_change("dtype", "int64", "float64"))))
