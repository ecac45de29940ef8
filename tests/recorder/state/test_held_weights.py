"""Copies of the weights in dicts and lists are found from the names of the loop; what only looks like one is not."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import nn

from debugtracer.recorder.state.held_weights import Average, HeldWeights, Weights, found_from


class Holder:
    """An object of the program."""

    def __init__(self, held: Any) -> None:
        self.held = held


def found(model: nn.Module) -> list[int]:
    weights = Weights([model], list(model.parameters()))
    return [id(one) for one in found_from(sys._getframe(1), weights)]


def a_model() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))


def cloned(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def test_copies_are_found_by_name_by_order_and_by_parameter() -> None:
    model = a_model()
    named = cloned(model)
    listed = [p.detach().clone() for p in model.parameters()]
    keyed = {p: p.detach().clone() for p in model.parameters()}
    numbered = {id(p): p.detach().clone() for p in model.parameters()}
    assert {id(one) for one in (named, listed, keyed, numbered)} == set(found(model))


def test_a_copy_deep_in_an_object_is_found() -> None:
    model = a_model()
    trainer = Holder({"callbacks": [Holder(cloned(model))]})
    assert found(model) == [id(trainer.held["callbacks"][0].held)]


def test_the_weights_themselves_their_gradients_and_other_shapes_are_none() -> None:
    model = a_model()
    model(torch.ones(1, 3)).sum().backward()
    state, weights = model.state_dict(), list(model.parameters())
    gradients = [p.grad for p in model.parameters()]
    other, short = {"0.weight": torch.ones(2, 2)}, [torch.ones(2, 3)]
    assert all((state, weights, gradients, other, short)) and found(model) == []


def test_no_code_of_the_program_is_called() -> None:
    class Angry:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError

    class Refusing(dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError

    angry = [Angry(), Refusing(a=1), Holder(Angry())]
    assert found(a_model()) == [] and angry


def test_what_the_program_lets_go_is_forgotten() -> None:
    model, held = a_model(), HeldWeights()
    shadow = cloned(model)
    parameters = list(model.parameters())
    assert [one is shadow for one in held.look([model], parameters)] == [True]
    shadow = {}
    assert held.look([model], parameters) == [] or shadow
    assert held.look([model], parameters) == []


def test_an_average_goes_back_to_where_it_was() -> None:
    first, second = torch.zeros(2), torch.ones(2)
    holder = {"a": second}
    Average(first, torch.full((2,), 3.0), holder, "a").restore()
    assert holder["a"] is first and first.tolist() == [3.0, 3.0]
    short: list[Any] = []
    Average(first, first.clone(), short, 1).restore()
    assert short == []


def test_a_sparse_buffer_has_no_memory_to_compare() -> None:
    model = a_model()
    model.register_buffer("links", torch.eye(2).to_sparse())
    model.register_buffer("rows", torch.eye(2).to_sparse_csr())
    shadow = {name: value.detach().clone() for name, value in model.state_dict().items()}
    assert found(model) == [id(shadow)]
    value = shadow["links"].clone()
    Average(shadow["links"].zero_(), value, shadow, "links").restore()
    assert torch.equal(shadow["links"].to_dense(), torch.eye(2))


def test_a_copy_that_has_two_names_is_found_once() -> None:
    model = a_model()
    one = cloned(model)
    two, three = one, Holder(one)
    assert two is three.held and found(model) == [id(one)]
