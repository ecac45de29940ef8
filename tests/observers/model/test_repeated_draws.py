"""What a model draws in its forward, beside the step before."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.model.repeated_draws import comparable
from debugtracer.trace.facts.repeated_draw import RepeatedDraw
from tests.observers.told import facts
from tests.watching import under_watch


def seeded():
    return torch.Generator().manual_seed(0)


class Noisy(nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.net, self.draw = nn.Linear(4, 4), draw

    def forward(self, x):
        return self.net(x + self.draw(x)).square().mean()


def anew(x):
    generator = seeded()
    return torch.randn(x.shape, generator=generator)


KEPT = torch.Generator()


def kept(x):
    return torch.randn(x.shape, generator=KEPT)


def reseeded(x):
    torch.manual_seed(3)
    return torch.rand_like(x)


def projected(x):
    return x @ torch.randn(4, 4, generator=seeded())


def run(out, draw, same_inputs=False, train=True):
    model = Noisy(draw).train(train)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    given = [torch.randn(6, 4, generator=torch.Generator().manual_seed(0 if same_inputs else n)) for n in range(4)]
    with under_watch(out):
        for x in given:
            optimizer.zero_grad()
            model(x).backward()
            optimizer.step()
    return facts(out, RepeatedDraw)


def test_a_generator_made_in_each_forward_is_told_with_its_line(tmp_path):
    (fact,) = run(tmp_path, anew)
    assert (fact.draw, fact.shape, fact.module, fact.looks, fact.ref.step) == ("randn", (6, 4), "Noisy", 3, 2)
    assert fact.frame is not None and "torch.randn(x.shape" in fact.frame.code
    assert fact.made is not None and fact.made.function == "seeded"


def test_a_seed_in_each_forward_has_no_generator(tmp_path):
    (fact,) = run(tmp_path, reseeded)
    assert fact.made is None and fact.frame is not None and "rand_like" in fact.frame.code


@pytest.mark.parametrize("draw", [kept, projected, torch.randn_like])
def test_new_numbers_and_fixed_projections_are_silent(tmp_path, draw):
    assert run(tmp_path, draw) == []


def test_the_same_batch_and_evaluation_are_silent(tmp_path):
    assert run(tmp_path / "a", anew, same_inputs=True) == []
    assert run(tmp_path / "b", anew, train=False) == []


def test_only_plain_tensors_with_rows_are_compared():
    nested = [
        torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=k) for k in (torch.strided, torch.jagged)
    ]
    others = (*nested, torch.eye(3).to_sparse(), torch.tensor(1.0), torch.empty(0), torch.empty(3, device="meta"), None)
    assert [comparable(one) for one in (torch.ones(3, 2), nn.Parameter(torch.ones(2)))] == [True] * 2
    assert not [one for one in others if comparable(one)]
