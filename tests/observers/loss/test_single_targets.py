"""Binary losses that ask for one answer."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.single_target import SingleTarget
from tests.observers.told import facts, findings
from tests.watching import under_watch


def gan(out, fake_target, twice=False):
    torch.manual_seed(0)
    maker, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    makes, judges = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
    ones, other = torch.ones(6, 1), torch.full((6, 1), fake_target)
    loss_of = F.binary_cross_entropy_with_logits
    with under_watch(out):
        for _ in range(4):
            fake = maker(torch.randn(6, 3))
            loss = loss_of(judge(fake), ones) + (loss_of(judge(fake * 2), ones) if twice else 0)
            makes.zero_grad()
            loss.backward()
            makes.step()
            loss = loss_of(judge(torch.randn(6, 4)), ones) + loss_of(judge(fake.detach()), other)
            judges.zero_grad()
            loss.backward()
            judges.step()
    return facts(out, SingleTarget), findings(out, "one-answer")


def test_one_answer_for_both_kinds_is_told(tmp_path):
    found, said = gan(tmp_path, 1.0)
    assert {(f.calls, f.asked, f.loss) for f in found} == {(2, 1.0, "binary_cross_entropy_with_logits")}
    assert [f.severity for f in said] == ["warning"]


def test_two_answers_are_silent(tmp_path):
    found, said = gan(tmp_path, 0.0, twice=True)
    assert {f.asked for f in found} == {None}
    assert said == []


def test_labels_of_a_batch_may_be_one_class(tmp_path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(32, 4), torch.zeros(32, 1))
    with under_watch(tmp_path):
        for x, y in DataLoader(data, batch_size=8):
            loss = F.binary_cross_entropy_with_logits(model(x), y) + F.binary_cross_entropy_with_logits(model(-x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert findings(tmp_path, "one-answer") == []
