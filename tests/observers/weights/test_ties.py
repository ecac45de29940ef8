"""Tied parameters of real models, and what breaks their ties."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.weights.ties import ties
from debugtracer.trace.facts.ties import TieGone
from tests.observers.observing import observed


class Tied(nn.Module):
    def __init__(self, memory_only: bool = False) -> None:
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = nn.Parameter(self.emb.weight.data) if memory_only else self.emb.weight

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.head(self.emb(ids))
        return out


def fit(model: nn.Module, steps: int = 5, each: Callable[[int], None] = lambda step: None) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        each(step)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(torch.arange(7)), torch.arange(7)).backward()
        optimizer.step()


def two(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def test_assign_makes_two_parameters_of_one(tmp_path: Path):
    def loop() -> None:
        model = Tied()
        model.load_state_dict(two(model), assign=True)
        fit(model)

    (fact,) = observed(tmp_path / "runs", loop, TieGone)
    assert (fact.name, fact.other, fact.numel, fact.how, fact.equal, fact.ref.step) == (
        "emb.weight",
        "head.weight",
        28,
        "load_state_dict",
        True,
        0,
    )
    assert fact.frame is not None
    assert fact.frame.code == "model.load_state_dict(two(model), assign=True)"


def test_in_the_middle_of_a_run_the_next_update_tells(tmp_path: Path):
    def loop() -> None:
        model = Tied()
        fit(model, 20)
        model.load_state_dict(two(model), assign=True)
        fit(model, 2)

    (fact,) = observed(tmp_path / "runs", loop, TieGone)
    assert fact.ref.step == 20


def test_a_conversion_breaks_a_tie_of_memory_alone(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: fit(Tied(memory_only=True).double()), TieGone)
    assert (fact.how, fact.equal) == ("_apply", True)
    assert observed(tmp_path / "whole", lambda: fit(Tied().double()), TieGone) == []


def test_an_assignment_is_told_without_a_call(tmp_path: Path):
    def loop() -> None:
        model = Tied()
        fit(model, 4)
        model.head.weight = nn.Parameter(torch.randn(7, 4))
        fit(model, 97)

    (fact,) = observed(tmp_path / "runs", loop, TieGone)
    assert (fact.how, fact.frame, fact.equal) == ("", None, False)


def retied() -> None:
    model = Tied()
    model.load_state_dict(two(model), assign=True)
    model.head.weight = model.emb.weight
    fit(model)


def frozen() -> None:
    model = Tied()
    model.load_state_dict(two(model), assign=True)
    model.emb.weight.requires_grad_(False)
    fit(model)


def new_head() -> None:
    model = Tied()
    fit(model, 4)
    model.head = nn.Linear(4, 9, bias=False)
    fit(model, 97)


def plain_load() -> None:
    model = Tied()
    model.load_state_dict(two(model))
    fit(copy.deepcopy(model).float())


@pytest.mark.parametrize("loop", [retied, frozen, new_head, plain_load])
def test_what_is_mended_wanted_or_whole_is_not_told(tmp_path: Path, loop: Callable[[], None]):
    assert observed(tmp_path / "runs", loop, TieGone) == []


def test_ties_by_identity_and_by_memory():
    assert ties(Tied()) == ties(Tied(memory_only=True)) == {("emb.weight", "head.weight")}
    assert ties(nn.Sequential(nn.Linear(2, 2), nn.LSTM(2, 2))) == set()
    with torch.device("meta"):
        assert ties(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))) == set()
        assert ties(Tied()) == {("emb.weight", "head.weight")}


def test_the_methods_are_as_they_were(tmp_path: Path):
    before = nn.Module.load_state_dict, nn.Module._apply
    observed(tmp_path / "runs", plain_load, TieGone)
    assert (nn.Module.load_state_dict, nn.Module._apply) == before
