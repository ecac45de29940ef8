"""All numbers of a step in one read."""

from __future__ import annotations

import torch

from debugtracer.recorder.gate.sync_read import read_at_once


def test_norm_losses_and_weights_come_at_once() -> None:
    losses = [torch.tensor(2.0), torch.tensor([1.0, 3.0], dtype=torch.bfloat16)]
    numbers, waited_s = read_at_once(torch.tensor(3.0), losses, torch.tensor(7.0))
    assert numbers == (3.0, [2.0, 2.0], 7.0) and waited_s > 0
    assert read_at_once(torch.tensor(3.0), [], None)[0] == (3.0, [], 0.0)
