"""The leaves of a root are followed for one forward, and no hook stays."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from debugtracer.observers.numerics.layer_norms import LayerNormsObserver
from debugtracer.observers.numerics.leaf_outputs import LeafOutputs
from tests.watching import under_watch


def test_each_leaf_is_handed_on_with_its_path_and_kind(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    seen: list[tuple[str, str]] = []

    def look(path: str, output: Tensor, kind: str) -> None:
        seen.append((path, kind))

    with under_watch(tmp_path) as session:
        (observer,) = (o for o in session.dispatcher.observers.values() if isinstance(o, LayerNormsObserver))
        wanted = [True]
        leaves = LeafOutputs(observer.run, lambda: wanted[0], look)
        leaves.follow(model)
        model(torch.ones(1, 2))
        assert seen == [("0", "Linear"), ("1.0", "ReLU")]
        wanted[0] = False
        model(torch.ones(1, 2))  # the root that was followed has failed: the hooks go
        assert len(seen) == 2
        assert not leaves.hooks
        wanted[0] = True
        with torch.no_grad():
            leaves.follow(model)
        assert not leaves.hooks  # nothing is trained


def test_the_next_root_that_trains_is_followed_once(tmp_path: Path) -> None:
    model, scale = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Softmax(-1)
    seen: list[str] = []
    with under_watch(tmp_path) as session:
        (observer,) = (o for o in session.dispatcher.observers.values() if isinstance(o, LayerNormsObserver))
        leaves = LeafOutputs(observer.run, lambda: True, lambda path, output, kind: seen.append(path))
        leaves.wait()
        with torch.no_grad():
            model(torch.ones(1, 2))
        scale(torch.ones(1, 2))  # no parameters
        assert seen == [] and leaves.hooks
        model(torch.ones(1, 2))
        assert seen == ["0", "1"] and not leaves.hooks
        model(torch.ones(1, 2))
        assert len(seen) == 2
