"""Where parameters live; waits exist only where there is something to wait for."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.devices import Devices, HostSyncs
from tests.observers.observing import facts, fit, observed

DATA = TensorDataset(torch.randn(8, 3), torch.arange(8) % 2)


def test_on_the_cpu_there_is_one_kind_and_no_wait(tmp_path):
    (fact,) = observed(tmp_path, lambda: fit(DataLoader(DATA, 4)), Devices)
    assert (fact.counts, fact.few) == ((("cpu", 2),), ("weight", "bias"))
    assert facts(tmp_path, HostSyncs) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_reads_of_a_device_are_counted(tmp_path):
    def loop():
        model = nn.Linear(3, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in DataLoader(DATA, 4):
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            for _ in range(7):
                loss.item()
            optimizer.step()

    found = observed(tmp_path, loop, HostSyncs)
    assert all(fact.count >= 7 and fact.at[0].function == "item" for fact in found)
