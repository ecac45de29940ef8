"""Weights for fewer rows than the data have."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.rows_left_out import RowsLeftOut
from debugtracer.trace.facts.loaders import LoaderSeen
from tests.checks.windows import LOADER, ref, told

SEEN = {
    "loader": 0, "frame": LOADER, "dataset": "TensorDataset", "length": 829, "batch_size": 32, "workers": 0,
    "sampler": "WeightedRandomSampler", "trains": True, "shards": False, "shuffles": None, "generator": False,
    "worker_init": False, "persistent": False, "cores": 2, "weights": 10, "draws": 829,
}  # fmt: skip


def judged(**more):
    return list(RowsLeftOut().judge(told(LoaderSeen(ref=ref(), **{**SEEN, **more}))))


def test_one_weight_per_class():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_rows_left_out", LOADER)
    assert finding.message == (
        "step 0, rank 0: the WeightedRandomSampler of TensorDataset (train.py:20) has 10 weights for 829 rows, so rows "
        "10..828 are never drawn; expected one weight per row. Index the weights with the labels."
    )


@pytest.mark.parametrize(
    "healthy",
    [{"weights": 829}, {"weights": None}, {"weights": 700}, {"trains": False}, {"length": None}, {"draws": 19}],
)
def test_other_samplers_and_subsets_are_silent(healthy):
    assert judged(**healthy) == []


def test_twice_as_many_draws_as_weights_are_the_least():
    assert len(judged(draws=20)) == 1
