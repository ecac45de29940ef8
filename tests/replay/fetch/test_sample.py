"""What makes the batches of a loader, also where the loader is gone; a worker's identity; the way through a stream."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, get_worker_info
from torch.utils.data._utils import worker as worker_module

from debugtracer.errors import ReplayRefused
from debugtracer.hooks.loading.loader_batch import batch_of, info_of_iterator
from debugtracer.hooks.loading.loader_feed import FetchedRows
from debugtracer.replay.fetch.sample import Pipeline, as_worker, next_bad, pipeline_of, stream_to


class Count(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return iter([0.0, 1.0, 2.0, math.nan, 4.0])


def test_a_running_iterator_tells_what_a_loader_that_is_gone_was():
    dataset = TensorDataset(torch.arange(4.0))
    iterator = iter(DataLoader(dataset, batch_size=2))
    info = info_of_iterator(iterator)
    info.iterated(iterator)
    pipeline = pipeline_of(info)
    assert pipeline.dataset is dataset
    assert not pipeline.streams
    assert torch.equal(pipeline.collated([pipeline.sample(2)])[0], torch.tensor([2.0]))


def test_without_a_dataset_it_is_refused():
    iterator = iter(DataLoader(TensorDataset(torch.arange(4.0))))
    info = info_of_iterator(iterator)
    del iterator
    with pytest.raises(ReplayRefused, match="gone"):
        pipeline_of(info)


def test_a_worker_has_its_number_and_runs_its_init(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "_worker_info", None)
    begun: list[int] = []
    with torch.random.fork_rng():
        as_worker(Pipeline(Count(), list, True, begun.append, 3), 5)
    told = get_worker_info()
    assert told is not None
    assert (told.id, told.num_workers, begun) == (2, 3, [2])


@pytest.mark.parametrize(("index", "passed"), [(0, 0.0), (3, None)])
def test_a_stream_is_read_to_just_before_a_sample(index: int, passed: float | None):
    iterator = iter(DataLoader(Count(), batch_size=2))
    batch = batch_of(info_of_iterator(iterator), FetchedRows(1, (index,), ""), 0, 0.0, [])
    found = next(stream_to(Pipeline(Count(), list, True, None, 0), batch, index))
    assert found == passed if passed is not None else math.isnan(found)


def test_a_bad_sample_is_found_near_its_place_or_refused():
    assert math.isnan(next_bad(iter(Count())))
    with pytest.raises(ReplayRefused, match="other samples"):
        next_bad(iter([1.0, 2.0]))
