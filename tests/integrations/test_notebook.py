"""`debugtracer.watch()` from code."""

from __future__ import annotations

import json

import torch

import debugtracer


def train():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    model(torch.ones(2, 4)).mean().backward()
    optimizer.step()


def test_leaving_the_with_block_restores_what_was_patched_and_closes_the_run(tmp_path):
    train()  # torch itself wraps SGD.step at the first construction
    before = (torch.optim.SGD.step, torch.Tensor.backward, torch.optim.Optimizer.__init__)
    with debugtracer.watch(out=tmp_path):
        train()
    assert (torch.optim.SGD.step, torch.Tensor.backward, torch.optim.Optimizer.__init__) == before
    assert json.loads((tmp_path / "latest" / "run.json").read_text())["status"] == "ended"
