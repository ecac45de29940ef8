"""A loader's dataset and collate function, asked once more."""

from __future__ import annotations

import weakref
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from debugtracer.observers.loaders.sample_maker import SampleMaker, maker_of
from debugtracer.recorder.tape.batches import LoaderInfo

RUN = SimpleNamespace(disabled=nullcontext)


class Rows(Dataset):
    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        return 4

    def __getitem__(self, at: int) -> torch.Tensor:
        self.asked += 1
        return torch.randn(2)


class Joined:
    def __init__(self) -> None:
        self.calls = 0

    def join(self, samples: list[torch.Tensor]) -> torch.Tensor:
        self.calls += 1
        return torch.stack(samples)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(4))


def info_of(loader: DataLoader) -> tuple[LoaderInfo, object]:
    iterator = iter(loader)
    info = LoaderInfo(weakref.ref(loader), "Rows", 2, 0, "SequentialSampler")
    info.iterated(iterator)
    return info, iterator


def test_a_sample_is_made_and_all_is_as_before():
    rows, joined = Rows(), Joined()
    info, _iterator = info_of(DataLoader(rows, 2, collate_fn=joined.join))
    maker = maker_of(info)
    assert maker is not None and maker.dataset is rows
    before = torch.get_rng_state()
    with maker.unchanged(RUN):
        assert maker.batch_of(1).shape == (1, 2)
        assert not torch.is_grad_enabled()
    assert (rows.asked, joined.calls) == (0, 0) and torch.equal(torch.get_rng_state(), before)


def test_what_the_program_raises_passes_and_all_is_as_before():
    rows = Rows()
    with pytest.raises(KeyError), SampleMaker(rows, torch.stack).unchanged(RUN):
        rows.asked = 7
        raise KeyError
    assert rows.asked == 0


def test_a_list_has_no_attributes_to_keep():
    maker = SampleMaker([torch.ones(2)], torch.stack)
    with maker.unchanged(RUN):
        assert maker.batch_of(0).tolist() == [[1.0, 1.0]]


def test_a_stream_and_an_iterator_that_is_gone_make_none():
    info, iterator = info_of(DataLoader(Stream(), 2))
    assert maker_of(info) is None
    info, iterator = info_of(DataLoader(Rows(), 2))
    del iterator
    assert maker_of(info) is None
