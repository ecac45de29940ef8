"""Writes in place, seen when the forward is executed again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.crash import InplaceWrites
from tests.observers.told import facts, findings
from tests.watching import under_watch

LATE = 8  # no step that is looked at closely


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 1)
        self.calls = 0

    def forward(self, x: torch.Tensor, write: bool) -> torch.Tensor:
        self.calls += 1
        h = self.a(x).exp()
        y = self.b(h)
        return y + h.clamp_(max=0.5).mean() if write else y


def crashed(out: Path, inside: bool) -> nn.Module:
    """A loop that writes in place at a late step, in the model or beside it."""
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with under_watch(out) as session:
        try:
            for step in range(LATE + 1):
                answer = model(torch.randn(5, 3), inside and step == LATE).exp()
                loss = answer.mean()
                if step == LATE and not inside:
                    answer.mul_(2.0)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        except RuntimeError as error:
            session.crashed(error)
    return model


@pytest.mark.parametrize("inside", [True, False], ids=["module", "loop"])
def test_the_line_that_wrote_is_named_in_a_step_that_was_not_looked_at(tmp_path: Path, inside: bool) -> None:
    model = crashed(tmp_path, inside)
    again = [fact for fact in facts(tmp_path, InplaceWrites) if fact.again]
    assert [w.name for w in again[0].writes] == ["clamp_" if inside else "mul_"]
    (finding,) = findings(tmp_path, "inplace-modified")
    assert finding.place.frame is not None
    assert finding.place.frame.code == (
        "return y + h.clamp_(max=0.5).mean() if write else y" if inside else "answer.mul_(2.0)"
    )
    assert finding.exact
    assert model.calls == LATE + 1  # the world is as before
