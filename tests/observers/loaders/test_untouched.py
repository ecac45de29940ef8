"""A dataset that is asked by us is as before."""

from __future__ import annotations

import torch

from debugtracer.observers.loaders.untouched import inner, untouched


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.asked, self.cache = 0, None

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.asked += 1
        self.cache = [index]
        self.file = object()
        return torch.randn(2)


def test_attributes_and_generators_are_restored():
    data = Rows()
    torch.manual_seed(0)
    expected = torch.randn(1)
    torch.manual_seed(0)
    with untouched(torch.utils.data.Subset(data, [1])):
        assert data[0].shape == (2,)
    assert vars(data) == {"asked": 0, "cache": None}
    assert torch.equal(torch.randn(1), expected)


def test_what_lies_below_subsets():
    data = Rows()
    assert inner(torch.utils.data.Subset(torch.utils.data.Subset(data, [1, 2]), [0])) is data


def test_an_attribute_that_is_taken_away_comes_back():
    data = Rows()
    data.label = "leaves"
    with untouched(data):
        del data.label
        data[0]
    assert vars(data) == {"asked": 0, "cache": None, "label": "leaves"}
