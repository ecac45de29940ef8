"""Loads that may leave names out, in real sessions."""

from __future__ import annotations

import io

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.names_ignored import NamesIgnored
from tests.observers.told import facts, findings
from tests.watching import under_watch


def net(head=2):
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, head))


class Wrapped(nn.Module):
    def __init__(self, head=2):
        super().__init__()
        self.backbone = net(head)

    def forward(self, x):
        return self.backbone(x)


def prefixed(state, prefix):
    return {prefix + name: tensor for name, tensor in state.items()}


def told(out, model, load):
    with under_watch(out):
        load(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(2, 3)).square().mean().backward()
            optimizer.step()
    return facts(out, NamesIgnored), findings(out, "names-left-out")


@pytest.mark.parametrize(
    ("make", "state", "removed", "added"),
    [
        (net, lambda: prefixed(net().state_dict(), "module."), "module.", ""),
        (net, lambda: Wrapped().state_dict(), "backbone.", ""),
        (Wrapped, lambda: net().state_dict(), "", "backbone."),
        (Wrapped, lambda: prefixed(net().state_dict(), "encoder."), "encoder.", "backbone."),
    ],
)
def test_a_prefix_that_lets_nothing_in_is_named(tmp_path, make, state, removed, added):
    (fact,), (finding,) = told(tmp_path, make(), lambda m: m.load_state_dict(state(), strict=False))
    assert (fact.given, fact.loaded, fact.healed, fact.removed, fact.added) == (6, 0, 6, removed, added)
    assert (finding.severity, finding.exact) == ("error", True)
    assert "strict=False)" in finding.place.frame.code


def test_a_state_filtered_to_nothing_is_told_with_the_names_of_the_file(tmp_path):
    def load(model):
        file = io.BytesIO()
        torch.save({"model": nn.DataParallel(net()).state_dict(), "epoch": 3}, file)
        file.seek(0)
        own, stored = model.state_dict(), torch.load(file)["model"]
        own.update({name: tensor for name, tensor in stored.items() if name in own})
        model.load_state_dict(own)

    (fact,), said = told(tmp_path, net(), load)
    assert (fact.filtered, fact.given, fact.healed, fact.removed) == (True, 6, 6, "module.")
    assert [one.severity for one in said] == ["error"]


def test_names_that_no_prefix_heals_are_a_warning(tmp_path):
    _, said = told(tmp_path, net(), lambda m: m.load_state_dict({"conv.weight": torch.ones(3, 3)}, strict=False))
    assert [one.severity for one in said] == ["warning"]


def a_new_head(model):
    state = net(head=5).state_dict()
    body = {name: tensor for name, tensor in state.items() if not name.startswith("4.")}
    model.load_state_dict(body | {"fc.weight": state["4.weight"]}, strict=False)


def a_part(model):
    model.load_state_dict({"0.weight": torch.zeros(4, 3), "0.bias": torch.zeros(4)}, strict=False)


def tried_twice(model):
    state = prefixed(net().state_dict(), "module.")
    model.load_state_dict(state, strict=False)
    model.load_state_dict({name.removeprefix("module."): tensor for name, tensor in state.items()})


def copied_by_hand(model):
    state = prefixed(net().state_dict(), "module.")
    model.load_state_dict(state, strict=False)
    for name, parameter in model.named_parameters():
        parameter.data.copy_(state[f"module.{name}"])


def its_own(model):
    model.load_state_dict(model.state_dict())


def saved():
    file = io.BytesIO()
    torch.save({name: tensor.half() for name, tensor in net().state_dict().items()}, file)
    file.seek(0)
    return torch.load(file)


def converted_and_assigned(model):
    model.load_state_dict({name: tensor.float() for name, tensor in saved().items()}, assign=True)


def copied_from_a_file(model):
    state = saved()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(state[name])
    model.load_state_dict(model.state_dict())


ON_PURPOSE = [
    a_new_head, a_part, tried_twice, copied_by_hand, its_own, converted_and_assigned, copied_from_a_file,
]  # fmt: skip


@pytest.mark.parametrize("load", ON_PURPOSE)
def test_loads_on_purpose_are_silent(tmp_path, load):
    assert told(tmp_path, net(), load) == ([], [])
