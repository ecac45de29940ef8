"""How far backward reaches, and where a graph was cut."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.graph_reach import GraphReach, LossWithoutGraph
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Parts(nn.Module):
    def __init__(self, between=lambda h: h):
        super().__init__()
        self.encoder = nn.Linear(4, 16)
        self.head = nn.Linear(16, 1)
        self.spare = nn.Linear(16, 1)
        self.between = between

    def forward(self, x):
        return self.head(self.between(torch.relu(self.encoder(x))))


def run(out, model, loss_of=lambda y: y.square().mean(), steps=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with under_watch(out, cost=1.0):  # else close looks rest on a busy machine
        for _ in range(steps):
            loss = loss_of(model(torch.randn(6, 4)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return facts(out, GraphReach)


def test_a_model_with_its_own_list_of_parameters_is_read_all_the_same(tmp_path):
    class Listed(Parts):
        def parameters(self):  # as MAML's learners have it
            return list(self.encoder.parameters()) + list(self.head.parameters())

    assert run(tmp_path, Listed(lambda h: h.detach()))[0].lost == ("encoder.weight", "encoder.bias")


@pytest.mark.parametrize(
    ("between", "function"),
    [
        (lambda h: h.detach(), "detach"),
        (lambda h: h.data, "data"),
        (lambda h: torch.from_numpy(h.detach().numpy()), "detach"),
        (lambda h: torch.tensor(h.tolist()), "tolist"),
    ],
)
def test_the_call_that_cuts_the_encoder_off_is_named(between, function, tmp_path):
    reach = run(tmp_path, Parts(between))[0]
    assert (reach.lost, reach.reached, reach.lost_numel) == (("encoder.weight", "encoder.bias"), 17, 80)
    assert reach.cut.function == function
    assert reach.cut.frame.function.endswith("<lambda>")
    (finding,) = findings(tmp_path, "detached-graph")
    assert (finding.severity, finding.place.param) == ("warning", "encoder.weight")


def test_no_grad_inside_the_model_is_named_with_the_line_it_runs_on(tmp_path):
    class Frozen(Parts):
        def forward(self, x):
            with torch.no_grad():
                h = self.encoder(x)
            return self.head(h)

    reach = run(tmp_path, Frozen())[0]
    assert (reach.cut.function, reach.cut.frame.code) == ("no_grad", "h = self.encoder(x)")


def test_a_choice_of_places_ends_the_graph_of_what_scored_them(tmp_path):
    class Routed(Parts):
        def forward(self, x):
            h = torch.relu(self.encoder(x))
            return self.head(h) * self.spare(h).argmax(1, keepdim=True)

    looks = run(tmp_path, Routed(), steps=120)
    assert (looks[0].lost, looks[0].cut.function) == (("spare.weight", "spare.bias"), "argmax")
    assert len(looks) >= 4 and all(fact.stood for fact in looks)  # how many there are hangs on the clock
    assert [fact.made.code for fact in looks if fact.made is not None] == ["self.spare = nn.Linear(16, 1)"]
    assert looks[-1].lasting == len(looks)
    (finding,) = findings(tmp_path, "detached-graph")
    assert finding.severity == "warning" and finding.step >= 50


def test_a_whole_graph_leaves_only_the_idle_part(tmp_path):
    reach = run(tmp_path, Parts())[0]
    assert (reach.lost, reach.idle, reach.reached) == ((), ("spare.weight", "spare.bias"), 97)
    assert not findings(tmp_path, "detached")


def test_a_detached_copy_for_logging_is_no_cut(tmp_path):
    def logged(h):
        h.detach().mean().item()
        return h

    assert run(tmp_path, Parts(logged))[0].lost == ()


def test_a_frozen_encoder_is_not_lost(tmp_path):
    model = Parts(lambda h: h.detach())
    model.encoder.requires_grad_(False)
    assert run(tmp_path, model)[0].lost == ()


def test_a_loss_made_of_a_number_hangs_on_nothing(tmp_path):
    run(tmp_path, Parts(), lambda y: torch.tensor(y.square().mean().item(), requires_grad=True))
    (fact, *_) = facts(tmp_path, LossWithoutGraph)
    assert (fact.leaf, fact.cut.function) == (True, "item")
    assert len(findings(tmp_path, "loss-without-graph")) == 1


def test_a_crash_without_a_graph_is_told_and_passes(tmp_path):
    with pytest.raises(RuntimeError, match="does not require grad"):
        run(tmp_path, Parts(), lambda y: y.detach().sum())
    (finding,) = findings(tmp_path, "loss-without-graph")
    assert finding.place.frame.function.endswith("<lambda>")


def test_layers_in_a_list_are_strangers(tmp_path):
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.entry = nn.Linear(4, 4)
            self.stages = [nn.Linear(4, 4) for _ in range(2)]

        def forward(self, x):
            x = self.entry(x)
            for stage in self.stages:
                x = torch.relu(stage(x))
            return x

    reach = run(tmp_path, Hidden())[0]
    assert sorted(s.path for s in reach.strangers) == [
        "stages.0.bias",
        "stages.0.weight",
        "stages.1.bias",
        "stages.1.weight",
    ]
    (finding,) = findings(tmp_path, "unregistered")
    assert (finding.severity, finding.place.frame.code) == (
        "error",
        "self.stages = [nn.Linear(4, 4) for _ in range(2)]",
    )


def test_a_layer_built_in_forward_is_new_each_time(tmp_path):
    class Anew(nn.Module):
        def __init__(self):
            super().__init__()
            self.entry = nn.Linear(4, 4)

        def forward(self, x):
            return nn.Linear(4, 2)(self.entry(x))

    assert [r.fresh for r in run(tmp_path, Anew())][:2] == [False, True]
    assert "error" in [f.severity for f in findings(tmp_path, "unregistered")]


def test_two_optimizers_are_told_apart(tmp_path):
    made, judge = nn.Linear(2, 4), nn.Linear(4, 1)
    ours, theirs = torch.optim.SGD(made.parameters(), lr=0.1), torch.optim.SGD(judge.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(4):
            z = torch.randn(8, 2)
            for loss_of, optimizer in (
                (lambda z=z: judge(made(z).detach()).mean(), theirs),
                (lambda z=z: -judge(made(z)).mean(), ours),
            ):
                loss = loss_of()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    told = facts(tmp_path, GraphReach)
    assert {(r.number, r.lost) for r in told} == {(0, ()), (1, ())}


class Cell(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.entry, self.hidden = nn.Linear(4, 16), [nn.Linear(16, 16)]
        self.places = hidden

    def forward(self, x):
        return self.hidden[0](torch.tanh(self.entry(x)) + (0.0 if self.places is None else self.places[0]))


def test_one_new_layer_in_a_list_that_nobody_updates_is_a_warning(tmp_path):
    run(tmp_path, Cell(None), steps=5)
    last = findings(tmp_path, "unregistered")[-1]
    assert (last.severity, last.exact) == ("warning", False)
    assert "and keep the values a new layer is drawn with; expected them in parameters()" in last.message


def test_a_plain_tensor_drawn_as_weights_is_a_warning(tmp_path):
    torch.manual_seed(0)
    run(tmp_path, Cell((0.02 * torch.randn(32, 16)).requires_grad_()), steps=5)
    (finding,) = [f for f in findings(tmp_path, "unregistered") if "plain tensor" in f.message]
    assert (finding.severity, finding.place.param) == ("warning", "places")
    assert "(self.places = hidden), asks for gradients and receives them" in finding.message


def test_coordinates_that_ask_for_a_gradient_are_none(tmp_path):
    run(tmp_path, Cell(torch.linspace(0, 1, 8 * 16).reshape(8, 16).requires_grad_()), steps=5)
    assert not [f for f in findings(tmp_path, "unregistered") if "plain tensor" in f.message]


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts, self.calls = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)]), 0

    def forward(self, x):
        self.calls += 1
        return self.experts[20 < self.calls < 80](x)


@pytest.mark.parametrize(("called", "told"), [(True, 0), (False, 1)])
def test_an_expert_that_was_updated_between_two_looks_is_used(called, told, tmp_path):
    model = Routed()
    model.calls = 0 if called else 1000
    run(tmp_path, model, steps=120)
    assert len(findings(tmp_path, "unused-param")) == told


@pytest.mark.parametrize("first", [False, True])
def test_a_part_that_is_called_nowhere_takes_no_part_where_the_model_is_evaluated_between_steps(tmp_path, first):
    model = Parts()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with under_watch(tmp_path, cost=1.0):
        for _ in range(6):
            for evaluated in (True, False) if first else (False, True):
                if evaluated:
                    with torch.no_grad():
                        model(torch.randn(6, 4))
                    continue
                loss = model(torch.randn(6, 4)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    assert {reach.lost for reach in facts(tmp_path, GraphReach)} == {()}
