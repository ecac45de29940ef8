"""The line that made weights half-precision ones, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.half_weights import HalfWeights
from tests.observers.observing import observed


@pytest.mark.parametrize("half", [True, False])
def test_the_cast_is_named_once(tmp_path: Path, half: bool) -> None:
    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        if half:
            model.bfloat16()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(8, 4, dtype=model.weight.dtype)).float().pow(2).mean().backward()
            optimizer.step()

    found = observed(tmp_path, loop, HalfWeights)
    assert [(fact.optimizer, fact.cast.code) for fact in found] == ([("AdamW", "model.bfloat16()")] if half else [])
