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
        scene = session.incidents.scene
        assert scene is not None
        assert list(scene.roots.known) == [model]
        assert scene.parameters(optimizer) == [model.weight, model.bias]
        assert scene.copies is session.copies
        assert scene.batches is session.batches
        with scene.paused():
            assert not session.free.listening()
        assert session.free.listening()
