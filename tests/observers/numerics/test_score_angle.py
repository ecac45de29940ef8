"""The angle in degrees behind scores that know their target, under a real session."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.trace.facts.logit_scale import LogitScale
from tests.observers.observing import observed

MARGIN = 28.6


class Margin(nn.Module):
    """The margin is kept as its cosine and sine."""

    def __init__(self, angle):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(6))
        self.cos, self.low = math.cos(angle), math.sin(math.pi - angle) * angle

    def forward(self, x, target):
        cosine = F.normalize(x) @ F.normalize(self.weight).t()
        further = torch.where(cosine > 2, cosine * self.cos, cosine - self.low)
        return 30 * torch.where(F.one_hot(target, 6).bool(), further, cosine)


class Whole(nn.Module):
    """The model takes the target itself, and holds the margin inside."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 6), Margin(angle=MARGIN)

    def forward(self, x, target):
        return self.head(self.body(x), target)


def pushed(cosine, target, degrees=30.0):
    wanted = F.one_hot(target, 6).bool()
    return 30 * torch.where(wanted, cosine - torch.sin(torch.tensor(math.pi - degrees)) * degrees, cosine)


class Radians(nn.Module):
    """The same without an angle: a sum that is far too large."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(6))
        self.cos = math.cos(math.radians(28.6))

    def forward(self, x, target):
        return (x @ self.weight) * self.cos + 500 * F.one_hot(target, 6)


def loop(model):
    torch.manual_seed(1)
    x, target = torch.randn(16, 6), torch.arange(16) % 6
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def run():
        for _ in range(2):
            loss = F.cross_entropy(model(x, target), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run


def test_an_angle_given_to_a_module_is_followed_to_its_number(tmp_path):
    found = observed(tmp_path, loop(Whole()), LogitScale)
    assert {(one.angle, one.taken_by, one.angle_frame.code) for one in found} == {(28.6, "cos", "MARGIN = 28.6")}


def test_an_angle_of_a_function_is_its_default(tmp_path):
    model, x, target = nn.Linear(6, 6), torch.randn(16, 6), torch.arange(16) % 6
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def run():
        loss = F.cross_entropy(pushed(model(x), target), target)
        loss.backward()
        optimizer.step()

    found = observed(tmp_path, run, LogitScale)
    assert {one.taken_by for one in found} == {"sin"}
    assert all("degrees=30.0" in one.angle_frame.code for one in found)


def test_where_angles_are_in_radians_none_is_named(tmp_path):
    found = observed(tmp_path, loop(Radians()), LogitScale)
    assert found[0].loss == pytest.approx(0, abs=1e-6) and {one.angle for one in found} == {None}
