"""What the gate has read of each tensor is there until the next step; nothing of the step before is taken for it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.numerics.layer_norms import LayerNormsObserver
from tests.watching import under_watch


def a_step(model: nn.Module, optimizer: torch.optim.Optimizer, clip: bool = False) -> None:
    optimizer.zero_grad()
    model(torch.ones(2, 4)).pow(2).mean().backward()
    if clip:
        nn.utils.clip_grad_norm_(list(model.parameters()), 1e6)
    optimizer.step()


def test_the_norms_of_a_step_are_those_of_its_tensors(tmp_path: Path) -> None:
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path, own_share=1e9) as session:
        (reader,) = (o for o in session.dispatcher.observers.values() if isinstance(o, LayerNormsObserver))
        session.observed_run.unsubscribe(reader.step_closed)
        a_step(model, optimizer)
        norms = session.state.norms
        assert norms.weights.pop() == pytest.approx([p.norm().item() for p in model.parameters()])
        gradients = norms.gradients.pop()
        assert math.hypot(*gradients) == pytest.approx(
            torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
        )
        a_step(model, optimizer)
        a_step(model, optimizer, clip=True)  # the norm is that of the clip: the gate has read none by itself
        assert not norms.gradients and norms.weights
        held = list(model.parameters())
        assert norms.of_gradients(held) is None
        assert norms.of_weights(held) == {id(p): pytest.approx(p.norm().item()) for p in held}
        assert norms.of_weights(held[:1]) is None
        a_step(model, optimizer)
        held[0].grad = None
        assert norms.of_gradients(held) is None
        assert norms.of_gradients([held[1]]) is None
        held[0].grad = torch.zeros_like(held[0])
        assert list(norms.of_gradients(held) or ()) == [id(p) for p in held]
