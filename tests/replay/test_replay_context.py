"""The scene of a real session: what an investigation asks of it is there."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from debugtracer.session import active
from tests.watching import under_watch


def test_a_session_hands_over_its_roots_parameters_copies_and_quiet(tmp_path: Path) -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with under_watch(tmp_path):
        model(torch.ones(2, 3)).mean().backward()
        optimizer.step()
        session = active()
        assert session is not None
        context = session.incidents.context
        assert context is not None
        assert list(context.roots.known) == [model]
        assert context.parameters(optimizer) == [model.weight, model.bias]
        assert context.copies is session.copies
        assert context.batches is session.batches
        with context.paused():
            assert not session.stack.listening()
        assert session.stack.listening()
