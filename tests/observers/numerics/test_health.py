"""The health snapshot of a real loop."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules import module as hooks

import debugtracer
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.store.reader import open_trace
from tests.watching import events, under_watch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.act, self.head = nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)

    def forward(self, x, follow=lambda t, name: t):
        hidden = follow(self.act(self.inner(x)), "hidden")
        return torch.softmax(self.head(torch.tanh(hidden)), dim=-1)


def trained(out, steps=5, follow=None, watch=True, **settings):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    x = torch.randn(8, 4)

    def loop():
        for _ in range(steps):
            optimizer.zero_grad()
            model(x, **({"follow": follow} if follow else {}))[:, 0].log().mean().neg().backward()
            optimizer.step()

    if watch:
        with under_watch(out, **settings):
            loop()
    else:
        loop()
    return [p.detach().clone() for p in model.parameters()]


def snapshots(out):
    return [from_plain(e.word, e.fact) for e in events(out) if isinstance(e, Observed) and e.word == "health/Health"]


def test_weights_gradients_and_leaf_activations_are_there_by_their_paths(tmp_path):
    trained(tmp_path / "runs")
    taken = snapshots(tmp_path / "runs")
    assert [fact.ref.step for fact in taken] == [0, 1, 2]
    assert [fact.ref.iteration for fact in taken] == [0, 1, 2]
    names = ["inner.weight", "inner.bias", "head.weight", "head.bias"]
    assert list(taken[0].of("weight")) == list(taken[0].of("gradient")) == names
    activations = taken[0].of("activation")
    assert {"inner", "act", "head", "act:relu"} <= activations.keys()
    tanh = next(row for row in activations.values() if row.function == "tanh")
    assert tanh.frame.function == "Net.forward"
    soft = next(row for row in activations.values() if row.function == "softmax")
    assert 0.9 < soft.entropy <= 1.0
    assert soft.logit_max < 2
    assert 0 <= activations["act:relu"].dead_units < 1


def test_of_two_relus_in_one_forward_neither_hides_the_other(tmp_path):
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 6), nn.Linear(4, 3)

        def forward(self, x):
            for _ in range(2):
                x = torch.relu(self.first(x))[:, :4]
            return torch.relu(self.second(x) - 100)

    model = nn.Sequential(Twice())
    with under_watch(tmp_path / "runs"):
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        model(torch.rand(8, 4)).sum().backward()
        optimizer.step()
    rows = {name: row for name, row in snapshots(tmp_path / "runs")[0].of("activation").items() if "relu" in name}
    assert len(rows) == 2, list(rows)  # one line of a loop is one row, another line another
    first, last = rows.values()
    assert (first.dead_units < 1, last.dead_units) == (True, 1.0)


def test_what_the_update_did_is_measured(tmp_path):
    trained(tmp_path / "runs")
    rows = {one.name: one for one in snapshots(tmp_path / "runs")[0].params}
    assert list(rows) == ["inner.weight", "inner.bias", "head.weight", "head.bias"]
    assert 0 < rows["head.weight"].update_l2 <= 0.011 * 18**0.5
    assert rows["head.weight"].optimizer == "Adam"


def test_every_nth_step_again_and_never_in_between(tmp_path):
    trained(tmp_path / "runs", steps=12, inspect_steps=5)
    assert [fact.ref.step for fact in snapshots(tmp_path / "runs")] == [0, 1, 2, 5, 10]


def test_training_is_the_same_bit_for_bit_and_no_hook_stays(tmp_path):
    before = len(hooks._global_forward_hooks)
    watched = trained(tmp_path / "runs", steps=8, inspect_steps=2)
    assert len(hooks._global_forward_hooks) == before
    assert all(torch.equal(a, b) for a, b in zip(watched, trained(None, steps=8, watch=False), strict=True))


def test_a_tracked_tensor_and_its_gradient_are_series_and_rows_and_change_nothing(tmp_path):
    watched = trained(tmp_path / "runs", follow=debugtracer.track)
    trace = open_trace(tmp_path / "runs")
    assert {"tracked/hidden", "tracked/hidden.grad"} <= set(trace.names())
    assert len(trace.series("tracked/hidden")[1]) == 5
    assert snapshots(tmp_path / "runs")[0].of("tracked")["hidden"].shape == (8, 6)
    assert snapshots(tmp_path / "runs")[0].of("tracked_gradient")["hidden"].shape == (8, 6)
    assert all(torch.equal(a, b) for a, b in zip(watched, trained(None, watch=False), strict=True))


def test_an_incident_has_a_snapshot_of_its_own(tmp_path):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with under_watch(tmp_path / "runs"):
        for step in range(7):
            optimizer.zero_grad()
            x = torch.ones(2, 2) * (float("nan") if step == 5 else 1.0)
            model(x).sum().backward()
            optimizer.step()
    taken = snapshots(tmp_path / "runs")
    assert [fact.ref.step for fact in taken] == [0, 1, 2, 5]
    assert taken[-1].of("weight")["weight"].bad == 0


def test_jagged_activations_have_no_row_and_break_nothing(tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(4):
            optimizer.zero_grad()
            made = model(torch.nested.nested_tensor([torch.randn(2, 4), torch.randn(3, 4)], layout=torch.jagged))
            made.values().pow(2).mean().backward()
            optimizer.step()
