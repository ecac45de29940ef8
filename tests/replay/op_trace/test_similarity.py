"""Where the vectors were made whose products an exponential is given."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.replay.tracing import trace


class Head(nn.Module):
    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        with torch.no_grad():
            self.first.weight.fill_(9.0)
            self.second.weight.fill_(9.0)

    def forward(self, x):
        if self.form == "pair":
            return self.apart(x)
        z = self.first(x)
        return F.normalize(z, dim=1) * 40 if self.form == "unit" else z

    def apart(self, x):
        a = self.first(x)
        b = self.second(x)
        return a, b


def loss_of(form: str, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    if form == "pair":
        a, b = model(x)
        return torch.exp(a @ b.t() / 0.1).sum()
    if form == "twice":
        z = torch.cat([model(x), model(x + 1)])
        return torch.exp(z @ z.t() / 0.1).sum()
    z = model(x)
    return torch.exp(z.sum(1) / 0.01).sum() if form == "sum" else torch.exp(z @ z.t() / 0.1).sum()


@pytest.mark.parametrize(
    ("form", "code"),
    [("one", "z = self.first(x)"), ("twice", "z = self.first(x)"), ("unit", None), ("pair", None), ("sum", None)],
)
def test_the_line_of_both_sides(form: str, code: str | None) -> None:
    model, x = Head(form), torch.ones(3, 4)
    birth = trace(lambda: loss_of(form, model, x), model, 3, **{"batch[0]": x})
    assert birth.op == "aten::exp"
    assert (birth.vectors.code if birth.vectors is not None else None) == code
