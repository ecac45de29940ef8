"""The same batch with the weights of now and of before: who is better depends on what has changed."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.diagnosis.compared_weights import compared
from debugtracer.trace.finding import Finding
from tests.replay.pasts import bits
from tests.watching import same_bits, under_watch

CHANGED = 60


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def leaves_at(step: int) -> Finding:
    return Finding(
        check="optimizer/loss-divergence", layer="optimizer", severity="note", iteration=step, step=step, message="-"
    )


class Run:
    """A line that is learnt, until something changes at a step."""

    def __init__(self, what: str) -> None:
        torch.manual_seed(0)
        self.what = what
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.true = torch.randn(4, 1)

    def go(self, steps: int = CHANGED + 20) -> None:
        for step in range(steps):
            x = torch.randn(32, 4)
            changed = step >= CHANGED
            y = x @ self.true + 0.1 * torch.randn(32, 1)
            if self.what == "other targets" and changed:
                y = y + 5 + step - CHANGED
            if self.what == "own targets":
                with torch.no_grad():
                    y = self.model(x) + (1.0 + step)
            if self.what == "rate" and changed:
                self.optimizer.param_groups[0]["lr"] = 1.2
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


@pytest.mark.parametrize("what", ["rate", "other targets", "own targets"])
def test_earlier_weights_are_better_only_where_training_went_wrong(tmp_path, what):
    run = Run(what)
    with under_watch(tmp_path) as watching:
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        run.go()
        before = bits(run)  # type: ignore[arg-type]
        known = compared(leaves_at(CHANGED), watching.ring, watching.incidents.context)
        assert not known.refused
        assert 0 <= known.earlier_step <= CHANGED
        assert known.batches == 3
        better = known.now - known.earlier >= 0.5 * known.now
        assert better == (what == "rate")
        assert all(map(same_bits, bits(run), before))  # type: ignore[arg-type]


def test_without_weights_from_before_it_says_why(tmp_path):
    run = Run("rate")
    with under_watch(tmp_path) as watching:
        run.go(40)
        watching.ring.reset()
        known = compared(leaves_at(10), watching.ring, watching.incidents.context)
        assert known.refused == "no weights from before step 10 are kept"
