"""Parameters that wait for an optimizer of a later stage."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.optimizer.unheld import Unheld
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.wiring import ParamWiring, Wiring
from debugtracer.trace.step import StepRef


def fact_of(model: nn.Module) -> Wiring:
    params = tuple(
        ParamWiring(name=name, numel=p.numel(), trainable=True, held=0, has_grad=True)
        for name, p in model.named_parameters()
    )
    return Wiring(ref=StepRef(iteration=0, step=0, rank=0), params=params, optimizers=(), to_come=True)


def held(*params: torch.Tensor) -> ById[torch.Tensor, bool]:
    found: ById[torch.Tensor, bool] = ById()
    for p in params:
        found[p] = True
    return found


def test_what_was_held_later_is_told_no_more() -> None:
    model, unheld = nn.Linear(2, 2), Unheld()
    unheld.wait(fact_of(model), [*model.parameters()], [id(p) for p in model.parameters()], False)
    unheld.let_go(held(model.weight))
    told = unheld.over()
    assert told is not None
    assert not told.to_come
    assert [(p.name, p.held) for p in told.params] == [("weight", 1), ("bias", 0)]
    assert unheld.over() is None


def test_nothing_is_told_where_all_were_held() -> None:
    model, unheld = nn.Linear(2, 2), Unheld()
    unheld.wait(fact_of(model), [*model.parameters()], [id(p) for p in model.parameters()], False)
    unheld.let_go(held(*model.parameters()))
    assert unheld.over() is None


def test_a_model_that_is_gone_waits_still() -> None:
    model, unheld = nn.Linear(2, 2), Unheld()
    unheld.wait(fact_of(model), [*model.parameters()], [id(p) for p in model.parameters()], False)
    del model
    unheld.let_go(held(torch.ones(1)))
    told = unheld.over()
    assert told is not None
    assert [p.held for p in told.params] == [0, 0]


def test_a_later_fact_takes_the_place_of_the_first_only_where_it_tells_more() -> None:
    model, unheld = nn.Linear(2, 2), Unheld()
    keys, first, later = [id(p) for p in model.parameters()], fact_of(model), fact_of(model)
    unheld.wait(first, [model.weight], keys, False)
    unheld.wait(later, [model.weight], keys, False)
    assert unheld.fact is first
    unheld.wait(later, [model.weight], keys, True)
    assert unheld.fact is later
    unheld.wait(first, [model.weight, model.bias], keys, False)
    assert unheld.fact is first
