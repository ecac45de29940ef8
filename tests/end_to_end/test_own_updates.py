"""Loops that write their weights themselves: updates are counted and told, a bad value is found with its line and
sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.commands.doctor import of_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.json_report import report
from debugtracer.views.words.run_wording import quiet
from tests.watching import only, under_watch

BAD = 21  # the sample whose second feature is 0
ROWS, BATCH = 48, 6


class Rooted(nn.Module):
    """The derivative of the root is infinite at 0, its value is not."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head((x * self.scale).sqrt())


def data(bad: bool) -> DataLoader[tuple[Tensor, ...]]:
    x = torch.rand(ROWS, 4, generator=torch.Generator().manual_seed(0)) + 0.5
    if bad:
        x[BAD, 1] = 0.0
    return DataLoader(TensorDataset(x, (x[:, 0] > 1).long()), batch_size=BATCH)


def through_data(parameters: list[nn.Parameter]) -> None:
    for p in parameters:
        p.data.add_(p.grad, alpha=-0.1)


@torch.no_grad()
def in_place(parameters: list[nn.Parameter]) -> None:
    for p in parameters:
        p -= 0.1 * p.grad


@torch.no_grad()
def at_once(parameters: list[nn.Parameter]) -> None:
    torch._foreach_add_(parameters, [p.grad for p in parameters], alpha=-0.1)


def descend(bad: bool, update: Callable[[list[nn.Parameter]], None], idle: bool = False) -> None:
    torch.manual_seed(0)
    model = Rooted()
    held = torch.optim.SGD(model.parameters(), 0.1) if idle else model
    for x, y in data(bad):
        held.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        update(list(model.parameters()))


def swap(bad: bool) -> None:
    torch.manual_seed(0)
    model = Rooted()
    parameters = dict(model.named_parameters())
    for x, y in data(bad):
        loss = functional.cross_entropy(torch.func.functional_call(model, parameters, (x,)), y)
        loss.backward()
        parameters = {n: (p - 0.1 * p.grad).detach().requires_grad_() for n, p in parameters.items()}


LOOPS: dict[str, Callable[[bool], None]] = {
    "data": lambda bad: descend(bad, through_data),
    "in place": lambda bad: descend(bad, in_place),
    "foreach": lambda bad: descend(bad, at_once),
    "idle optimizer": lambda bad: descend(bad, in_place, idle=True),
    "functional": swap,
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_a_bad_gradient_has_its_line_and_its_sample(loop, tmp_path: Path) -> None:
    with under_watch(tmp_path):
        loop(True)
    incident = only(tmp_path)
    assert incident.verdict is not None
    assert incident.facts.symptom == "inf_grad"
    assert incident.facts.ref.iteration == incident.facts.ref.step == BAD // BATCH
    assert (incident.verdict.kind, incident.verdict.status) == ("backward_nan_op", "confirmed")
    assert incident.verdict.sample_index == (BAD,)
    assert Path(__file__).read_text().splitlines()[(incident.verdict.line or 0) - 1].endswith("scale).sqrt())")


@pytest.mark.parametrize(("name", "count"), [("data", 8), ("foreach", 8), ("idle optimizer", 8), ("functional", 7)])
def test_the_updates_are_counted_and_told(name: str, count: int, tmp_path: Path) -> None:
    with under_watch(tmp_path):
        LOOPS[name](False)
    told = report(open_trace(tmp_path))
    assert (told["run"]["own_updates"], told["run"]["steps"], told["verdict"]) == (count, 8, None)
    assert f"8 backward calls and {count} updates written by the loop itself on 1 rank" in quiet(told, False, [])
    assert any(f"{count} update(s) by the loop itself" in text for _, _, text in of_run(tmp_path))
