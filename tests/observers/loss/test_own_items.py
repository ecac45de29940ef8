"""Items that are read and asked for in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.own_item import OwnItem
from tests.observers.observing import observed

Loss = Callable[[nn.Embedding, nn.GRU, Tensor], Tensor]


def of_product(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    scores = (memory(items(rows[:, :-1]))[0] * items(rows[:, :-1].clone())).sum(-1)
    return F.binary_cross_entropy_with_logits(scores, torch.ones_like(scores))


def turned_round(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    return -F.logsigmoid((items(rows[:, :-1].clone()) * memory(items(rows[:, :-1]))[0]).sum(dim=-1)[:, :]).mean()


def of_the_next(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    return F.softplus(-(memory(items(rows[:, :-1]))[0] * items(rows[:, 1:])).sum(-1)).mean()


def of_rows(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    one, other = (memory(items(rows))[0].mean(1) for _ in range(2))
    return (one @ other.T).sum()


def gated(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    vectors = items(rows)
    return F.softplus((vectors * memory(vectors)[0]).sum(-1)).mean()


def gated_looked_up_twice(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    return F.softplus((memory(items(rows))[0].sigmoid() * items(rows)).mean(1)).sum()


def pooled_by_own_score(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    share = (memory(items(rows))[0] * items(rows)).sum(-1).softmax(1)
    return F.softplus((share[..., None] * items(rows)).sum(1)).mean()


def given_back_from_one_vector(items: nn.Embedding, memory: nn.GRU, rows: Tensor) -> Tensor:
    whole = memory(items(rows))[1][-1][:, None].expand(-1, rows.shape[1], -1)
    return F.softplus((whole.tanh() * items(rows.clone())).sum(-1)).mean()


def told(out: Path, loss: Loss) -> list[OwnItem]:
    """The facts of three steps."""
    torch.manual_seed(0)

    def loop() -> None:
        items, memory = nn.Embedding(40, 8), nn.GRU(8, 8, batch_first=True)
        optimizer = torch.optim.SGD([*items.parameters(), *memory.parameters()], lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            loss(items, memory, torch.randint(1, 40, (8, 9))).backward()
            optimizer.step()

    return observed(out, loop, OwnItem)


@pytest.mark.parametrize("loss", [of_product, turned_round])
def test_the_same_items_are_counted(tmp_path: Path, loss: Loss) -> None:
    found = told(tmp_path, loss)
    assert [(fact.ref.step, fact.places, fact.same) for fact in found] == [(step, 64, 64) for step in range(3)]
    assert found[0].wanted is not None and "clone()" in found[0].wanted.code


def test_the_next_items_are_others(tmp_path: Path) -> None:
    assert all(fact.same < 0.5 * fact.places for fact in told(tmp_path, of_the_next))


@pytest.mark.parametrize(
    "loss", [of_rows, gated, gated_looked_up_twice, pooled_by_own_score, given_back_from_one_vector]
)
def test_other_products_are_not_told(tmp_path: Path, loss: Loss) -> None:
    assert told(tmp_path, loss) == []
