"""The same updates without weight decay."""

from __future__ import annotations

import pytest
import torch

from debugtracer import session
from debugtracer.interventions.intervention import interventions
from tests.replay.pasts import Loop, training, tried


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def test_a_decay_that_drags_the_weights_to_0_is_gone(tmp_path):
    loop = Loop(lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=60.0))
    with training(tmp_path, loop) as trials:
        norm = {}
        for slug in ("unchanged", "without-decay"):
            seen: list[float] = []
            trials.looked_at = lambda rerun, seen=seen: seen.append(size(loop)) or iter([0.0])
            assert tried(trials, slug).change in ("nothing changed", "weight_decay=0")
            norm[slug] = seen[0]
        assert norm["unchanged"] < 0.2 * norm["without-decay"]
        assert loop.optimizer.param_groups[0]["weight_decay"] == 60.0


def size(loop: Loop) -> float:
    return float(sum(p.norm() for p in loop.model.parameters()))


def test_without_a_decay_it_is_refused(tmp_path):
    with training(tmp_path, Loop()) as trials:
        assert trials.run(interventions()["without-decay"]).refused == "no parameter group has a weight decay"
