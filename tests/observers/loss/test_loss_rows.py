"""The loss of each row, read from the graph."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.loss.loss_rows import OutlyingLoss, is_scaled, loss_node, row_losses
from debugtracer.trace.events import Observed
from tests.watching import events, under_watch

G = torch.Generator().manual_seed(1)
SCORES, TOKENS = torch.randn(8, 5, generator=G), torch.randn(8, 6, 5, generator=G)
CLASSES, TAGS = torch.arange(8) % 5, torch.arange(48).reshape(8, 6) % 5
TAGS[2, 3:] = -100


def of(make, x):
    x = x.clone().requires_grad_()
    loss = make(x)
    return row_losses(loss_node(loss.grad_fn), 8)


@pytest.mark.parametrize(
    ("make", "x", "want"),
    [
        (lambda x: F.cross_entropy(x, CLASSES), SCORES, F.cross_entropy(SCORES, CLASSES, reduction="none")),
        (lambda x: F.cross_entropy(x, CLASSES) / 4, SCORES, F.cross_entropy(SCORES, CLASSES, reduction="none")),
        (lambda x: F.mse_loss(x, torch.zeros(8, 5)), SCORES, SCORES.pow(2).mean(1)),
        (
            lambda x: F.binary_cross_entropy_with_logits(x, torch.ones(8, 5)),
            SCORES,
            F.binary_cross_entropy_with_logits(SCORES, torch.ones(8, 5), reduction="none").mean(1),
        ),
    ],
    ids=["cross_entropy", "divided", "mse", "bce"],
)
def test_rows_are_those_that_torch_gives_without_reduction(make, x, want):
    assert torch.allclose(of(make, x).float(), want, atol=1e-6)


def test_ignored_targets_do_not_count_in_their_row():
    want = F.cross_entropy(TOKENS.flatten(0, 1), TAGS.flatten(), reduction="none").reshape(8, 6).sum(1) / (
        TAGS != -100
    ).sum(1)
    assert torch.allclose(
        of(lambda x: F.cross_entropy(x.flatten(0, 1), TAGS.flatten()), TOKENS).float(), want, atol=1e-6
    )


def test_another_loss_and_freed_graphs_are_left_alone():
    x = SCORES.clone().requires_grad_()
    assert loss_node(x.exp().sum().grad_fn) is None
    loss = F.mse_loss(x, torch.zeros(8, 5))
    node = loss_node(loss.grad_fn)
    loss.backward()
    assert row_losses(node, 8) is None


def test_rows_that_do_not_divide_the_targets_are_unknown():
    x = SCORES.clone().requires_grad_()
    assert row_losses(loss_node(F.mse_loss(x, torch.zeros(8, 5)).grad_fn), 7) is None


def test_a_loss_stands_out_above_all_of_the_last_ones_and_is_not_learnt():
    seen = OutlyingLoss()
    got = [seen.push([torch.tensor(value)]) for value in [*[1.0, 1.2] * 10, 1.4, 2.0, 9.0, 1.1]]
    assert [value is not None for value in got] == [*[False] * 20, False, True, True, False]
    assert seen.usual() == pytest.approx(1.2)
    assert seen.push([torch.tensor(5.0), torch.tensor(5.0)]) is None
    assert seen.push([torch.tensor(float("nan"))]) is None


def test_a_loss_in_another_unit_is_known_and_a_sum_of_two_is_not():
    x = SCORES.clone().requires_grad_()
    loss = F.mse_loss(x, torch.zeros(8, 5))
    assert is_scaled((loss / 4 / 4).grad_fn, loss.grad_fn)
    assert is_scaled((0.1 * loss).double().grad_fn, loss.grad_fn)
    assert not is_scaled((loss + x.abs().mean()).grad_fn, loss.grad_fn)


@pytest.mark.parametrize("parts", [1, 8, 0.1])
def test_the_share_of_raised_rows_is_that_in_the_unit_of_the_loss(tmp_path, parts):
    torch.manual_seed(1)
    model, x = nn.Linear(4, 1), torch.randn(640, 4, generator=torch.Generator().manual_seed(2))
    y = torch.randn(640, generator=torch.Generator().manual_seed(3))
    y[322:328] = 9.0
    with under_watch(tmp_path / "runs"):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
        for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
            loss = F.mse_loss(model(a).squeeze(1), b) / parts
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert 6 / 16 <= told(tmp_path / "runs")[0]["raised"] < 0.6


def told(out: Path):
    return [e.fact for e in events(out) if isinstance(e, Observed) and e.word == "loss-rows/LossRows"]


def test_a_real_loop_names_the_rows_of_the_step_that_stands_out_and_trains_the_same(tmp_path):
    x, y = torch.randn(640, 4, generator=torch.Generator().manual_seed(2)), torch.zeros(640)
    y[330] = 60.0

    def losses(watch):
        torch.manual_seed(3)
        model = nn.Linear(4, 1)
        optimizer, got = torch.optim.SGD(model.parameters(), lr=1e-2), []

        def go():
            for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
                loss = F.mse_loss(model(a).squeeze(1), b)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                got.append(loss.item())

        if watch:
            with under_watch(tmp_path / "runs"):
                go()
        else:
            go()
        return got

    assert losses(True) == losses(False)
    first = told(tmp_path / "runs")[0]
    assert (first["ref"]["iteration"], first["loss"], first["top"][0]["row"], first["top"][0]["sample"]) == (
        20,
        "MseLossBackward0",
        10,
        330,
    )
    assert first["top_share"] > 0.9
    assert 0 < first["first"] < first["value"]
    assert first["raised"] < 0.7


def test_a_healthy_loop_tells_nothing(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for (a,) in DataLoader(TensorDataset(torch.ones(640, 4)), batch_size=16):
            loss = model(a).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert told(tmp_path / "runs") == []
