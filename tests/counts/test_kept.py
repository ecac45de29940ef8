"""What a step leaves behind: no tensor in memory, and a bounded number of bytes on disk."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.governor import FIRST_STEPS
from tests.watching import under_watch

FEW, MANY = 2, 38  # layers
# bytes of a step on disk; 150 and 640 with torch 2.13 on a busy machine, which flushes more often
BYTES = {FEW: 250, MANY: 900}
SHORT, LONG = 150, 450  # steps; what is written once cancels out
MODES = ("observe", "dev", "val", "prod")


class Loop:
    """A loop that keeps nothing of a step itself."""

    def __init__(self, layers: int) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(layers)))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self) -> list[weakref.ref[Tensor]]:
        """Train once; the answer is what was there of this step alone."""
        x = torch.randn(4, 8)
        hidden = self.model[0](x)
        output = self.model[1:](hidden)
        loss = output.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        graded = [p.grad for p in self.model.parameters() if p.grad is not None]
        return [weakref.ref(t) for t in (hidden, output, loss, *graded)]


def tensors() -> int:
    gc.collect()
    return sum(isinstance(thing, Tensor) for thing in gc.get_objects())


@pytest.mark.parametrize("mode", MODES)
def test_no_tensor_of_a_step_lives_beyond_it(tmp_path: Path, mode: str) -> None:
    settings: dict[str, Any] = {"inspect_steps": 0, "cost": 1.0, "ring_bytes": 0, "copy_bytes": 0}
    with under_watch(tmp_path, mode, **settings):
        loop = Loop(FEW)
        for _ in range(FIRST_STEPS):
            loop.step()
        seen = loop.step()
        loop.optimizer.zero_grad()
        assert not [ref for ref in seen if ref() is not None]
        loop.step()
        before = tensors()
        for _ in range(8):
            loop.step()
        assert tensors() <= before


def written(out: Path, layers: int, steps: int) -> int:
    with under_watch(out, inspect_steps=0, cost=1.0):
        loop = Loop(layers)
        for _ in range(steps):
            loop.step()
    return sum(path.stat().st_size for path in out.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.mark.parametrize("layers", [FEW, pytest.param(MANY, marks=pytest.mark.sweep)])
def test_a_step_leaves_a_bounded_number_of_bytes_on_disk(tmp_path: Path, layers: int) -> None:
    short, long = (written(tmp_path / str(steps), layers, steps) for steps in (SHORT, LONG))
    assert (long - short) / (LONG - SHORT) <= BYTES[layers]
