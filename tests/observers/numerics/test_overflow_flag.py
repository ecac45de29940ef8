"""The flag is left alone where no device saturates; tests/devices/test_npu.py reads it on a stand-in."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.devices.cpu import Cpu
from debugtracer.observers.numerics import overflow_flag
from debugtracer.trace.facts.overflow_flag import OverflowFlag
from tests.observers.observing import fit, observed


class Saturating(Cpu):
    """The host with a flag: set by the steps named."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.asked = self.cleared = 0

    def saturates(self) -> bool:
        return True

    def overflowed(self) -> bool:
        self.asked += 1
        return self.asked == 2

    def clear_overflow(self) -> None:
        self.cleared += 1


def training():
    fit(DataLoader(TensorDataset(torch.randn(50, 3), torch.arange(50) % 2), 2))


def test_no_accelerator_no_fact(tmp_path):
    assert observed(tmp_path, training, OverflowFlag) == []


def test_it_is_read_and_cleared_after_inspected_updates_only(tmp_path, monkeypatch):
    one = Saturating("npu")
    monkeypatch.setattr(overflow_flag, "accelerator", lambda: one)
    (fact,) = observed(tmp_path, training, OverflowFlag)
    assert (fact.ref.step, fact.device, fact.since) == (1, "npu", 0)
    assert one.asked == one.cleared == 3
