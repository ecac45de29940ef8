"""Parameters from which no loss hangs, followed from look to look."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.callsites.frames import raw_frames
from debugtracer.observers.graph.lost_layers import LostLayers, given_beside, made_at, spare
from tests.observers.told import findings
from tests.watching import under_watch


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = nn.Linear(2, 2)
        self.parts = nn.Sequential(nn.Linear(2, 2), nn.ReLU())


def test_looks_in_a_row_at_the_same_ones_are_counted():
    layers, model = LostLayers(), Two()
    held = list(model.codes.parameters())
    assert [layers.follow(0, held)[0] for _ in range(3)] == [1, 2, 3]
    assert layers.follow(0, held[:1])[0] == 1
    assert layers.follow(0, []) == (0, False)
    assert layers.follow(1, held)[0] == 1


def test_values_that_another_line_updates_do_not_stand():
    layers, model = LostLayers(), Two()
    held = list(model.codes.parameters())
    layers.follow(0, held)
    assert layers.follow(0, held) == (2, True)
    with torch.no_grad():
        held[0].mul_(0.99)
    assert layers.follow(0, held) == (3, False)


def test_the_line_that_makes_a_layer_or_its_container_is_found():
    model = Two()
    assert made_at([nn.Linear(1, 1), model], "codes.weight").code == "self.codes = nn.Linear(2, 2)"
    assert made_at([model], "parts.0.weight").code == "self.parts = nn.Sequential(nn.Linear(2, 2), nn.ReLU())"
    assert made_at([model], "other.weight") is None
    assert made_at([model], "?") is None


def spared(lost: list[str], reached: list[str], given: tuple[str, ...] = ()) -> bool:
    """Whether parameters of these names are spare."""
    held = {name: nn.Parameter(torch.zeros(1)) for name in dict.fromkeys((*lost, *reached))}
    names = {id(parameter): name for name, parameter in held.items()}
    behind = {id(held[name]) for name in given}
    return spare([held[name] for name in lost], [held[name] for name in reached], names, behind)


def test_what_the_last_of_equal_blocks_hands_on_is_spare():
    reached = ["layers.0.shift.weight", "layers.0.mix.weight", "layers.1.mix.weight", "head.weight"]
    assert spared(["layers.1.shift.weight"], reached)
    assert not spared(["layers.1.shift.weight", "gate.weight"], reached)
    assert not spared([], reached)
    numbered = ["gcl_0.node.weight", "gcl_0.edge.weight", "gcl_1.edge.weight"]
    assert spared(["gcl_1.node.weight"], numbered)
    assert not spared(["gcl_1.node.weight"], numbered[:2])


def test_a_whole_block_and_a_part_that_no_block_trains_are_not_spare():
    assert not spared(["heads.1.weight"], ["heads.0.weight", "body.weight"])
    assert not spared(["layers.1.gate.weight"], ["layers.0.mix.weight", "layers.1.mix.weight"])
    assert not spared(["layers.0.gate.weight"], ["layers.0.mix.weight", "layers.1.gate.weight"])


def test_what_another_of_several_outputs_hangs_on_is_spare():
    reached = ["body.weight", "heads.0.weight"]
    assert spared(["heads.1.weight", "gate.bias"], reached, given=("heads.1.weight", "gate.bias"))
    assert not spared(["heads.1.weight", "gate.bias"], reached, given=("gate.bias",))


def test_several_outputs_are_tensors_with_a_graph_and_no_loss():
    one = nn.Linear(2, 2)(torch.ones(1, 2))
    assert len(given_beside([one, one * 2])) == 2 and len(given_beside({"a": one, "b": (one,)})) == 2
    assert given_beside(one) == [] and given_beside((one, torch.ones(1))) == [] and given_beside((one, one.sum())) == []


def test_a_returned_output_gives_the_parameters_behind_it():
    layers, model = LostLayers(), Two()
    x = torch.ones(1, 2)
    layers.returned((model.codes(x), model.parts(x)))
    assert layers.given == {id(p) for p in model.parameters()}


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        return [self.first(x), self.second(x)]


def heard(layers: LostLayers, model: Heads, keep: bool) -> list[torch.Tensor]:
    """What a function that is over got from two layers; the second one let go of unless kept."""

    def forward() -> list[torch.Tensor]:
        made = [model.first(torch.ones(1, 2)), model.second(torch.ones(1, 2))]
        for layer, result in zip((model.first, model.second), made, strict=True):
            layers.made_by(layer, result, raw_frames(1))
        return made if keep else made[:1]

    return forward()


def test_a_head_beside_the_one_that_is_learnt_from_is_given_where_it_is_handed_out():
    layers, model = LostLayers(), Heads()
    reached, kept = set(map(id, model.first.parameters())), heard(layers, model, True)
    layers.handed_out(raw_frames(1), reached)
    assert kept and layers.given == {id(p) for p in model.second.parameters()} and layers.results == []


def test_a_result_that_is_dropped_stands_alone_or_is_of_a_function_that_runs_is_none():
    layers, model = LostLayers(), Heads()
    reached, kept = set(map(id, model.first.parameters())), heard(layers, model, False)
    layers.handed_out(raw_frames(1), reached)
    assert kept and layers.given == set()
    kept = heard(layers, model, True)
    layers.handed_out(raw_frames(1), ())
    assert kept and layers.given == set()
    one, other = model(torch.ones(1, 2))
    layers.made_by(model.first, one, raw_frames(1))
    layers.made_by(model.second, other, raw_frames(1))
    layers.handed_out(raw_frames(1), reached)
    assert layers.given == set()


@pytest.mark.parametrize("kept", [True, False])
def test_results_of_one_line_that_are_collected_are_heads_and_overwritten_ones_are_not(kept):
    layers, heads = LostLayers(), nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

    def forward() -> torch.Tensor:
        made: list[torch.Tensor] = []
        for head in heads:
            made = [*made, head(torch.ones(1, 2))] if kept else [head(torch.ones(1, 2))]
            layers.made_by(head, made[-1], raw_frames(1))
        return made[-1]

    last = forward()
    layers.handed_out(raw_frames(1), set(map(id, heads[2].parameters())))
    others = {id(p) for head in heads[:2] for p in head.parameters()}
    assert last is not None and layers.given == (others if kept else set())


@pytest.mark.parametrize(("given", "kept"), [({"create_graph": True}, 2), ({"retain_graph": True}, 0)])
def test_what_a_derivative_with_a_graph_is_taken_of_is_no_lost_layer(given, kept):
    layers, energy = LostLayers(), nn.Linear(2, 1)
    place = torch.zeros(1, 2, requires_grad=True)
    layers.differentiated(torch.autograd.grad, (energy(place), place), given)
    layers.differentiated(torch.add, (energy(place), place), {"create_graph": True})
    assert len(layers.given & set(map(id, energy.parameters()))) == kept


def test_the_last_bias_of_an_energy_that_forces_alone_are_learnt_from_is_silent(tmp_path):
    torch.manual_seed(0)
    energy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3)
    with under_watch(tmp_path, inspect_steps=10):
        for _ in range(80):
            place = torch.randn(8, 2, requires_grad=True)
            (force,) = torch.autograd.grad(energy(place).sum(), place, None, None, True)
            optimizer.zero_grad()
            (force + place).square().mean().backward()
            optimizer.step()
    assert [f for f in findings(tmp_path, "detached-graph") if f.severity == "warning"] == []
