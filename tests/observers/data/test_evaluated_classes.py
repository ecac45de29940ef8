"""What a model calls the classes of an evaluation, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.evaluated_classes import EvaluatedClasses
from tests.observers.told import facts, findings
from tests.watching import under_watch

CENTRES = 3 * torch.eye(4)


def data(labels: Tensor, numbers: Tensor) -> TensorDataset:
    noise = torch.randn(len(labels), 4, generator=torch.Generator().manual_seed(len(labels)))
    return TensorDataset(CENTRES[labels] + 0.3 * noise, numbers[labels])


def run(out: Path, numbers: list[int], evaluates: bool = True, epochs: int = 3, watched: bool = True) -> Tensor:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

    def loop() -> None:
        training = DataLoader(data(torch.arange(320) % 4, torch.arange(4)), 8, shuffle=True)
        holding = DataLoader(data(torch.arange(80) % 4, torch.tensor(numbers)), 20)
        for _ in range(epochs):
            model.train()
            for x, y in training:
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                for x, _ in holding if evaluates else ():
                    model(x).argmax(1)

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return torch.cat([p.detach().flatten() for p in model.parameters()])


class Leaves(torch.utils.data.Dataset):
    """Kinds by name, numbered by what it is given."""

    def __init__(self, kinds, numbers):
        self.kinds, self.numbers = kinds, numbers

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, at):
        kind = self.kinds[at]
        return CENTRES[kind] + 0.1, self.numbers[kind]


def test_the_data_set_of_the_evaluation_is_built_elsewhere_than_its_loader(tmp_path):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    with under_watch(tmp_path):
        known = Leaves([i % 4 for i in range(320)], [0, 1, 2, 3])
        unknown = Leaves([i % 4 for i in range(80)], [2, 0, 1, 3])
        training = DataLoader(known, 8, shuffle=True)
        holding = DataLoader(unknown, 20)
        for _ in range(3):
            model.train()
            for x, y in training:
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                for x, _ in holding:
                    model(x)
    (finding,) = findings(tmp_path, "classes-renumbered")
    assert finding.place.frame.code.startswith("unknown = Leaves")
    assert finding.place.symptom_frame.code.startswith("holding = DataLoader")


def test_each_class_beside_what_it_is_called(tmp_path):
    run(tmp_path, [2, 0, 1, 3])
    *_, last = facts(tmp_path, EvaluatedClasses)
    assert last.counts == (20, 20, 20, 20) and last.hits[3] > 18 and sum(last.hits[:3]) == 0
    assert last.called == (1, 2, 0, 3) and last.trained == 1.0
    (finding,) = findings(tmp_path, "classes-renumbered")
    assert "holding = DataLoader" in finding.place.symptom_frame.code


@pytest.mark.parametrize(("numbers", "evaluates", "count"), [([0, 1, 2, 3], True, 3), ([2, 0, 1, 3], False, 0)])
def test_the_same_numbers_are_silent_and_no_evaluation_is_no_fact(tmp_path, numbers, evaluates, count):
    run(tmp_path, numbers, evaluates)
    seen = facts(tmp_path, EvaluatedClasses)
    assert len(seen) == count and all(sum(fact.counts) == 80 for fact in seen)
    assert findings(tmp_path, "classes-renumbered") == []


def test_training_is_the_same_bit_for_bit(tmp_path):
    assert torch.equal(run(tmp_path, [2, 0, 1, 3], watched=False), run(tmp_path / "a", [2, 0, 1, 3]))
