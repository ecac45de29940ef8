"""Copies between devices, whole and damaged; where there is one device, another name of it stands for the other."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.observers.device import device_copies
from debugtracer.observers.device.device_copies import crosses, difference
from debugtracer.trace.facts.damaged_copy import DamagedCopy
from tests.observers.told import facts, findings
from tests.watching import under_watch

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_bits_are_compared():
    x = torch.tensor([1.0, float("nan"), -0.0, 3.0])
    assert difference(x, x.clone()) is None
    assert difference(x, torch.tensor([1.0, float("nan"), 0.0, 0.0])) == (2, 2)
    assert difference(torch.arange(6).reshape(2, 3).t(), torch.arange(6).reshape(2, 3).t().clone()) is None
    assert difference(torch.tensor([True, False]), torch.tensor([True, True])) == (1, 0)


def test_what_is_no_plain_copy_of_another_device_is_not_compared():
    x, there = torch.randn(3), torch.empty(3, device="meta")
    assert not crosses(x, x.clone()) and not crosses(x, there) and not crosses(3, x)
    assert not crosses(x, torch.empty(3, device="meta", dtype=torch.half))


def train(lose):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        x = torch.empty(8, 4).copy_(torch.randn(8, 4))
        if lose:
            x.zero_()
        loss = F.mse_loss(model(x), torch.ones(8, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_copy_that_arrives_otherwise_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(device_copies, "crosses", lambda source, copy: torch.is_tensor(source))
    monkeypatch.setattr(device_copies, "difference", lambda source, copy: device_copies.Difference(32, 32))
    with under_watch(tmp_path):
        train(False)
    (told,) = facts(tmp_path, DamagedCopy)
    assert (told.function, told.elements, told.frame.function) == ("copy_", 32, "train")
    assert [f.severity for f in findings(tmp_path, "copy-damaged")] == ["error"]


def test_copies_that_arrive_are_silent_whatever_the_program_does_with_them_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(device_copies, "crosses", lambda source, copy: torch.is_tensor(source))
    with under_watch(tmp_path):
        watched = train(True)
    assert facts(tmp_path, DamagedCopy) == []
    assert watched == train(True)


@gpu
def test_copies_to_a_gpu_and_back_are_the_same():
    x = torch.randn(1000).pin_memory()
    there = x.to("cuda", non_blocking=True)
    back = there.to("cpu", non_blocking=True)
    assert crosses(x, there) and difference(x, there) is None and difference(there, back) is None
    there[3] = 0
    assert difference(x, there) == (1, 1)
