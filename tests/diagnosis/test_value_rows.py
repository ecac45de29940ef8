"""The row of a batch that holds the number an op could not take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from debugtracer.diagnosis.value_rows import value_rows
from debugtracer.testing import a_birth, a_tensor
from tests.watching import incidents, under_watch

X = torch.tensor([[0.5, 0.25], [0.7, -0.2708], [0.1, 0.9], [2.0, 1.0]])


class Held:
    """What is asked of a batch."""

    rows = 4

    def __init__(self, *leaves: torch.Tensor) -> None:
        self.leaves = [(f"batch[{place}]", leaf) for place, leaf in enumerate(leaves)]

    def tensors(self) -> Any:
        return self.leaves


def domain(*values: float, bad: int = 1, kind: str = "domain") -> Any:
    met = msgspec.structs.replace(a_tensor(values[0]), values=tuple(float(torch.tensor(v)) for v in values))
    return a_birth("aten::sqrt", met, output=a_tensor(nan=bad), kind=kind)


def test_the_only_row_that_holds_the_number():
    other = torch.rand(4, 3) + 3.0
    assert value_rows(domain(-0.2708), Held(other, X)) == ("batch[1]", (1,))
    assert value_rows(domain(-0.2708, 0.9, bad=2), Held(other, X)) == ("batch[1]", (1, 2))


@pytest.mark.parametrize(
    ("birth", "leaves"),
    [
        (domain(-0.3), (X,)),  # computed
        (domain(2.0), (X,)),  # a number that may stand there by chance
        (domain(-0.2708, bad=9), (X,)),  # more numbers than are known
        (domain(-0.2708, kind="overflow"), (X,)),
        (domain(-0.2708), (X, X.clone())),  # in two tensors
        (domain(-0.2708), (torch.cat([X[1:2], X[:2], X[3:]]),)),  # in two rows
        (domain(-0.2708), (X[:2],)),  # not a row for each sample
    ],
    ids=["computed", "common", "many", "kind", "two tensors", "two rows", "shape"],
)
def test_a_number_that_is_common_or_computed_names_no_row(birth: Any, leaves: Any):
    assert value_rows(birth, Held(*leaves)) is None


class Boxes:
    """A side of each box where there is one, else 0; those of sample 21 are in the wrong order."""

    def __len__(self) -> int:
        return 32

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor]:
        side = torch.tensor([0.2 + at / 100, 0.3 + at / 90]) * (1 if at % 3 == 0 else 0)
        return torch.ones(3) * at / 32, -side if at == 21 else side


def test_behind_a_mask_the_sample_is_named(tmp_path: Path):
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for x, side in DataLoader(Boxes(), batch_size=8):
            there = side[:, 0] != 0
            loss = F.mse_loss(torch.sqrt(model(x)[there].abs() + 1.0), torch.sqrt(side[there]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    first = incidents(tmp_path)[0]
    assert first.verdict is not None
    assert (first.facts.held_in, first.verdict.batch_rows, first.verdict.sample_index) == ("batch[1]", (5,), (21,))
    assert "and batch[1] holds that number as the loader gave it" in first.verdict.summary


def test_a_leaf_with_one_number_for_each_row_is_looked_at():
    targets = torch.tensor([0.3, -0.2708, 0.6, 0.9])
    found = value_rows(domain(-0.2708), Held(torch.rand(4, 3) + 3.0, targets))  # type: ignore[arg-type]
    assert found is not None and (found.path, found.rows) == ("batch[1]", (1,))
