"""Ids that all samples of the first batches share, in real loaders."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.same_rows import SameRows
from tests.observers.told import facts, findings
from tests.watching import under_watch

OWN = torch.randint(20, (64, 5), generator=torch.Generator().manual_seed(1))
ONE = torch.tensor([[3, 9, 4, 9, 0]])


def run(out: Path, *columns: Tensor, watched: bool = True) -> Tensor:
    torch.manual_seed(0)
    table = nn.Embedding(70, 2)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)

    def loop() -> None:
        for _ in range(2):
            for batch in DataLoader(TensorDataset(*columns), 8):
                optimizer.zero_grad()
                sum(table(ids.clamp(0, 69)).sum() for ids in batch).backward()
                optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return table.weight.detach().clone()


def test_one_row_beside_others_is_told_once(tmp_path):
    run(tmp_path, OWN, ONE.repeat(64, 1))
    (fact,) = facts(tmp_path, SameRows)
    assert (fact.path, fact.beside, fact.rows, fact.columns) == ("batch[1]", "batch[0]", 24, 5)
    assert [finding.severity for finding in findings(tmp_path, "same-row")] == ["warning"]


@pytest.mark.parametrize(
    "columns",
    [
        (OWN, OWN.flip(0)),
        (OWN, torch.arange(5).repeat(64, 1)),  # positions
        (OWN, torch.tensor([[0, 0, 1, 1, 0]]).repeat(64, 1)),  # types of tokens
        (ONE.repeat(64, 1),),  # nothing beside it
        (OWN, torch.cat([ONE.repeat(16, 1), OWN[16:]])),  # a few samples alone
        (OWN, torch.arange(64)[:, None].repeat_interleave(8, 0)[:64] + ONE),  # one for each batch
        (OWN, torch.tensor([7]).repeat(64)),
    ],
    ids=["own", "positions", "types", "alone", "at first", "a batch", "labels"],
)
def test_what_differs_or_says_nothing_is_silent(tmp_path, columns):
    run(tmp_path, *columns)
    assert facts(tmp_path, SameRows) == []


def test_training_is_the_same_bit_for_bit(tmp_path):
    given = (OWN, ONE.repeat(64, 1))
    assert torch.equal(run(tmp_path, *given, watched=False), run(tmp_path / "a", *given))
