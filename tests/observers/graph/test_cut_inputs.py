"""What enters a graph without its own."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.graph.cut_inputs import CutInputs


def networks() -> tuple[nn.Linear, nn.Linear]:
    return nn.Linear(2, 3), nn.Linear(3, 1)


def ids(module: nn.Module) -> frozenset[int]:
    return frozenset(map(id, module.parameters()))


def test_a_result_is_known_by_its_memory():
    maker, critic = networks()
    inputs = CutInputs()
    made = maker(torch.randn(4, 2))
    inputs.left(maker, (), made, 0)
    given = made.detach()
    scores = critic(given)
    inputs.left(critic, ((given,), {}), scores, 0)
    (entry,) = inputs.entries.values()
    assert (entry.weights, entry.cut) == (ids(maker), ())
    assert entry.taken
    assert list(inputs.entries) == [scores.grad_fn._sequence_nr()]


def test_a_result_with_its_graph_or_of_the_network_itself_enters_nothing():
    maker, critic = networks()
    inputs = CutInputs()
    made = maker(torch.randn(4, 2))
    inputs.left(maker, (), made, 0)
    inputs.left(critic, ((made,), {}), critic(made), 0)
    state = made.detach()
    inputs.left(maker, ((state,), {}), maker(state[:, :2]), 0)
    assert inputs.entries == {}


def test_what_functions_make_of_it_is_followed():
    maker, critic = networks()
    inputs = CutInputs()
    made = maker(torch.randn(4, 2)).tanh()
    given = made.detach()
    inputs.called(torch.Tensor.detach, ((made,), {}), given, 0)
    double = torch.cat([given, given])
    inputs.called(torch.cat, (([given, given],), {}), double, 0)
    scores = critic(double)
    inputs.called(nn.functional.linear, ((double, critic.weight), {}), scores, 0)
    (entry,) = inputs.entries.values()
    assert entry.weights == ids(maker)
    assert entry.cut == entry.taken and entry.cut


def test_a_line_of_an_earlier_backward_is_not_that_of_the_cut():
    maker, critic = networks()
    inputs = CutInputs()
    with torch.no_grad():
        made = maker(torch.randn(4, 2))
    inputs.left(maker, (), made, 0)
    inputs.left(critic, ((made,), {}), critic(made), 1)
    (entry,) = inputs.entries.values()
    assert (entry.cut, bool(entry.taken)) == ((), True)
    inputs.forget()
    assert inputs.entries == {}
