"""Copies of the weights in dicts and lists are found from the names of the loop; what only looks like one is not."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.callsites.frames import LIBRARY, USER
from debugtracer.recorder.state import held_weights
from debugtracer.recorder.state.held_weights import (
    DEEP,
    WIDE,
    Average,
    HeldWeights,
    Weights,
    found_from,
    memory,
    named_in_stack,
    parts_of,
)


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


def are_in(model: nn.Module, held: Any, trained: list[torch.Tensor] | None = None) -> bool:
    return Weights([model], list(model.parameters()) if trained is None else trained).are_in(held)


def test_a_container_holds_copies_where_every_entry_is_one() -> None:
    model = a_model()
    named, listed = cloned(model), list(cloned(model).values())
    assert are_in(model, named) and are_in(model, listed)
    assert not are_in(model, {}) and not are_in(model, [])
    assert not are_in(model, named | {"0.weight": nn.Parameter(named["0.weight"])})
    assert not are_in(model, [nn.Parameter(listed[0]), *listed[1:]])
    assert not are_in(model, [*listed[:3], listed[3] + nn.Parameter(listed[3])])
    assert not are_in(model, [*listed[:3], model[1].bias.data])  # type: ignore[index,union-attr]
    assert not are_in(model, [*listed[:3], 3.0])
    assert not are_in(model, [3.0, *listed[1:]])
    assert not are_in(model, named | {"more": torch.ones(2)})
    assert not are_in(model, named | {3: torch.ones(2)})
    assert not are_in(model, listed[:2])


def test_one_tensor_in_a_list_is_no_copy_of_a_model_of_one_weight() -> None:
    model = nn.Linear(3, 2, bias=False)
    assert not are_in(model, [torch.ones(2, 3)])
    assert are_in(model, {"weight": torch.ones(2, 3)})


def test_a_list_may_hold_all_weights_those_that_are_trained_or_those_that_an_optimizer_has() -> None:
    model = a_model()
    model[0].requires_grad_(False)  # type: ignore[index,union-attr]
    copies = list(cloned(model).values())
    assert are_in(model, copies, [])
    assert are_in(model, copies[2:], [])
    assert not are_in(model, copies[:2], [])
    assert are_in(model, copies[:2], list(model[0].parameters()))  # type: ignore[index,union-attr]


def test_gradients_are_no_copies_before_and_after_they_are_there() -> None:
    model = a_model()
    model(torch.ones(1, 3)).sum().backward()
    assert not are_in(model, [p.grad for p in model.parameters()])


def test_memory_is_told_of_what_has_some() -> None:
    x = torch.ones(4)
    assert memory(x) == x.data_ptr() != 0
    assert memory(x.to_sparse()) == 0
    assert memory(torch.nested.nested_tensor([x, x[:2]], layout=torch.strided)) == 0


def test_parts_of_a_module_are_its_own_attributes_of_the_program_alone() -> None:
    model = nn.Linear(2, 2)
    model.ema, model._hidden = mine, _ = {"a": 1}, {"b": 2}  # type: ignore[assignment]
    assert [part for part in parts_of(model) if isinstance(part, dict)] == [mine]
    holder = Holder(3)
    holder._hidden = 4  # type: ignore[attr-defined]
    assert list(parts_of(holder)) == [3, 4]


def test_wide_containers_and_what_is_no_plain_object_are_not_followed() -> None:
    assert list(parts_of([1] * WIDE)) == [1] * WIDE
    assert list(parts_of((1,) * (WIDE + 1))) == []
    assert list(parts_of({"a": 1})) == [1]
    for thing in (torch.ones(2), Holder, sys, 3, "text", object()):
        assert list(parts_of(thing)) == []


@pytest.mark.parametrize(("deep", "finds"), [(DEEP, True), (DEEP + 1, False)])
def test_copies_are_found_to_a_depth(deep: int, finds: bool) -> None:
    model = a_model()
    held: Any = cloned(model)
    copies = id(held)
    for _ in range(deep):
        held = (held,)
    assert found(model) == ([copies] if finds else [])


def test_an_average_is_put_back_where_the_program_keeps_it() -> None:
    tensor, value, newer = torch.zeros(2), torch.ones(2), torch.full((2,), 9.0)
    for holder, key in (({"a": newer}, "a"), ([None, newer], 1)):
        Average(tensor.zero_(), value, holder, key).restore()  # type: ignore[arg-type]
        assert tensor.tolist() == [1.0, 1.0] and holder[key] is tensor  # type: ignore[index]
    short: list[Any] = [newer]
    Average(tensor.zero_(), value, short, 1).restore()
    assert (tensor.tolist(), len(short), short[0] is newer) == ([1.0, 1.0], 1, True)
    sparse = torch.eye(2).to_sparse()
    Average(sparse, torch.zeros(2, 2).to_sparse()).restore()
    assert sparse.to_dense().sum() == 0


def test_a_search_comes_at_each_doubling_of_the_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    held, searched, model = HeldWeights(), [], a_model()
    monkeypatch.setattr(held_weights, "found_from", lambda frame, weights: searched.append(held.looks) or [])
    for _ in range(9):
        assert held.look([model], []) == []
    assert searched == [1, 2, 4, 8]


def test_what_the_program_has_let_go_is_forgotten() -> None:
    held, model = HeldWeights(), a_model()
    kept, gone = {"a": 1}, {"b": 2}
    held.looks, held.holders = 2, [kept, gone]
    del gone
    assert held.look([model], []) == [kept]


class Ours:
    """A library's object whose method runs the loop."""

    def __init__(self, held: Any) -> None:
        self.held = held


def test_objects_of_a_library_are_found_by_their_running_method_and_nothing_else_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = {"method": LIBRARY, "function": LIBRARY, "mine": USER}
    monkeypatch.setattr(held_weights, "place_of", lambda code: places.get(code.co_name))

    def method(self: Any, hidden: Any) -> list[Any]:
        return list(named_in_stack(sys._getframe()))

    def function(hidden: Any) -> list[Any]:
        return list(named_in_stack(sys._getframe()))

    def mine(self: Any, named: Any) -> list[Any]:
        return mine_again(self, named) if named else list(named_in_stack(sys._getframe()))

    def mine_again(self: Any, named: Any) -> list[Any]:
        return mine(self, None)

    ours, hidden = Ours(1), Ours(2)
    assert method(ours, hidden) == [ours]
    assert function(hidden) == []
    names = mine(ours, hidden)
    assert hidden in names and sum(one is Ours for one in names) == 1, "globals of a file are told once"
