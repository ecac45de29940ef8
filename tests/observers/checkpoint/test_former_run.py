"""A run finds the one that saved the weights it has loaded."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.events import Found, Observed
from debugtracer.trace.store.reader import Trace
from tests.watching import under_watch


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 1)
        self.scale = 1.0

    def forward(self, x):
        self.scale += 0.01 * (float(x.abs().mean()) - self.scale) if self.training else 0.0
        return self.body(x / self.scale)


def train(model, optimizer, first, last, path=None, at=()):
    for step in range(first, last):
        x = 50 * torch.rand(16, 3, generator=torch.Generator().manual_seed(step))
        optimizer.zero_grad()
        (model(x).squeeze(1) - x.sum(1) / 50).square().mean().backward()
        optimizer.step()
        if step + 1 in at:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, path)


def start():
    torch.manual_seed(3)
    model = Scaled()
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def of(run, kind):
    return [e for e in Trace(run).events() if isinstance(e, kind)]


@pytest.mark.parametrize("whole", [False, True])
def test_a_second_run_knows_the_losses_of_the_first(tmp_path, whole):
    out, path = tmp_path / "runs", tmp_path / "last.pt"
    with under_watch(out, name="monday"):
        model, optimizer = start()
        train(model, optimizer, 0, 240, path, (60, 200))
    with under_watch(out, name="tuesday"):
        again, optimizer = start()
        state = torch.load(path)
        again.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        again.scale = model.scale if whole else 1.0
        train(again, optimizer, 200, 230)
    (former,) = (e.fact for e in of(out / "tuesday", Observed) if e.word == "former-run/FormerRun")
    assert (former["run"], former["step"], former["start"], former["same_program"]) == ("monday", 200, 0, True)
    assert [step for step, _ in former["losses"]] == list(range(184, 216))
    said = [e.finding for e in of(out / "tuesday", Found) if e.finding.check == "rollback/restore-mismatch"]
    assert [f.severity for f in said] == ([] if whole else ["warning"])


def test_weights_of_another_run_are_not_found(tmp_path):
    out = tmp_path / "runs"
    with under_watch(out, name="monday"):
        train(*start(), 0, 20, tmp_path / "last.pt", (10,))
    with under_watch(out, name="tuesday"):
        model, optimizer = start()
        model.load_state_dict({name: t + 1 for name, t in model.state_dict().items()})
        train(model, optimizer, 0, 5)
    assert [e for e in of(out / "tuesday", Observed) if e.word == "former-run/FormerRun"] == []
