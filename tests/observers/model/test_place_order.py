"""Which places of an input reach which places of the output?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.observers.model.place_order import is_given_back, is_ordered, masked_layer, place_order
from debugtracer.observers.model.shadow_model import ShadowModel


class Masked(nn.Linear):
    def __init__(self, mask):
        super().__init__(mask.shape[1], mask.shape[0])
        self.register_buffer("mask", mask.float())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Made(nn.Module):
    def __init__(self, strict, order=None, wide=8, kinds=1):
        super().__init__()
        order = torch.arange(wide) if order is None else order
        hidden = torch.arange(64) % (wide - 1)  # none is fed by the last place
        last = hidden[None] < order[:, None] if strict else hidden[None] <= order[:, None]
        self.kinds = kinds
        self.first = Masked(order[None] <= hidden[:, None])
        self.last = Masked(last.repeat_interleave(kinds, 0))

    def forward(self, x):
        scores = self.last(torch.relu(self.first(x)))
        return scores if self.kinds == 1 else scores.view(len(x), -1, self.kinds).transpose(1, 2)


class Picture(nn.Conv2d):
    def __init__(self, kind):
        super().__init__(1, 4, 3, padding=1)
        mask = torch.ones(4, 1, 3, 3)
        mask[:, :, 1, 1 + (kind == "B") :] = 0
        mask[:, :, 2:] = 0
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.conv2d(x, self.weight * self.mask, self.bias, padding=1).mean(1, keepdim=True)


def tried(model, x, target=None):
    shadow = ShadowModel(model, ())
    return place_order(shadow, x, lambda other: ((other,), {}), x if target is None else target)


def lamps(rows=16, wide=8):
    torch.manual_seed(3)
    return (torch.rand(rows, wide) < 0.5).float()


@pytest.mark.parametrize(("strict", "own"), [(False, 7), (True, 0)])
@pytest.mark.parametrize("order", [None, torch.tensor([3, 0, 7, 1, 5, 2, 6, 4])])
def test_a_made_reads_in_an_order(strict, own, order):
    told = tried(Made(strict, order), lamps())
    assert (told.tried, told.own, told.ordered) == (8, own, True)
    assert told.reached >= 20


def test_classes_of_each_place():
    x = lamps()
    told = tried(Made(False, kinds=2), x, x.long())
    assert (told.own, told.ordered) == (7, True)


@pytest.mark.parametrize(("kind", "own"), [("A", 0), ("B", 32)])
def test_a_picture_is_read_in_its_middle(kind, own):
    torch.manual_seed(0)
    told = tried(Picture(kind), torch.rand(4, 1, 9, 9))
    assert (told.tried, told.own, told.ordered) == (32, own, True)


def test_an_autoencoder_has_no_order():
    torch.manual_seed(0)
    told = tried(nn.Sequential(nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 8)), lamps())
    assert (told.own, told.ordered) == (8, False)


def test_what_has_no_value_for_each_place_is_not_tried():
    assert tried(nn.Linear(8, 3), lamps()) is None
    assert tried(nn.Linear(4, 4), lamps(wide=4)) is None


def test_orders():
    assert is_ordered(torch.tensor([[0, 1, 1], [0, 0, 1], [0, 0, 0]]).bool())
    assert not is_ordered(torch.tensor([[0, 1, 0], [0, 0, 1], [1, 0, 0]]).bool())


def test_targets_that_are_the_input():
    x = lamps()
    assert is_given_back(x, x) and is_given_back(x, x.long())
    assert is_given_back(torch.arange(12.0).view(2, 6) / 11, torch.arange(12).view(2, 6))
    assert not is_given_back(x, 1 - x)
    assert not is_given_back(torch.ones(4, 8), torch.ones(4, 8))
    assert not is_given_back(x.long(), x.long())


def test_the_layer_whose_mask_decides():
    assert masked_layer(Made(True)) == "last"
    assert masked_layer(nn.Sequential(Picture("A"), nn.ReLU(), Picture("B"))) == "0"
    assert masked_layer(nn.Linear(3, 3)) is None
