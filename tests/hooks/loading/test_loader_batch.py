"""What is logged of a batch and of a loader that was there before us."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.hooks.loading.loader_batch import info_of_iterator, number_of, reference_to, sampler_name


def test_an_iterator_tells_of_its_loader() -> None:
    loader = DataLoader(TensorDataset(torch.zeros(9)), batch_size=3, shuffle=True)
    iterator = iter(loader)
    info = info_of_iterator(iterator)
    assert (info.dataset, info.batch_size, info.sampler) == ("TensorDataset", 3, "RandomSampler")
    assert sampler_name(loader) == "RandomSampler"
    next(iterator)
    next(iterator)
    assert number_of(iterator) == 1


def test_a_list_takes_no_weak_reference() -> None:
    dataset = TensorDataset(torch.zeros(1))
    assert reference_to([1]) is None
    held = reference_to(dataset)
    assert held is not None and held() is dataset
