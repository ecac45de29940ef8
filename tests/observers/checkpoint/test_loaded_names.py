"""Loads that may leave names out, in real sessions."""

from __future__ import annotations

import io
from collections.abc import Mapping

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


def its_own_beside_a_file_of_data(model):
    file = io.BytesIO()
    torch.save({"pictures": torch.ones(4, 3), "labels": torch.ones(4)}, file)
    file.seek(0)
    torch.load(file)
    model.load_state_dict(model.state_dict())


def nothing_on_purpose(model):
    model.load_state_dict({}, strict=False)


class Archive(Mapping):
    """Reads a file each time it is asked."""

    def __init__(self, state):
        self.state, self.reads = state, 0

    def __getitem__(self, name):
        self.reads += 1
        return self.state[name].clone()

    def __iter__(self):
        return iter(self.state)

    def __len__(self):
        return len(self.state)


def an_archive(model):
    archive = Archive(prefixed(net().state_dict(), "module."))
    model.load_state_dict(archive, strict=False)
    assert archive.reads == len(archive)


ON_PURPOSE = [
    a_new_head, a_part, tried_twice, copied_by_hand, its_own, converted_and_assigned, copied_from_a_file,
    its_own_beside_a_file_of_data, nothing_on_purpose, an_archive,
]  # fmt: skip


@pytest.mark.parametrize("load", ON_PURPOSE)
def test_loads_on_purpose_are_silent(tmp_path, load):
    assert told(tmp_path, net(), load) == ([], [])


class Parts(nn.Module):
    """A trunk that holds most of the values, and a head."""

    def __init__(self, wrapped=False, head=2):
        super().__init__()
        self.trunk = nn.DataParallel(net(8)) if wrapped else net(8)
        self.head = nn.Sequential(nn.Linear(8, 2), nn.Tanh(), nn.Linear(2, head))

    def forward(self, x):
        return self.head(self.trunk(x))


def from_file(state):
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file)


def past_strict(model):
    model.load_state_dict(Parts(wrapped=True).state_dict(), strict=False)


def picked_into_its_own(model):
    own, stored = model.state_dict(), from_file(Parts(wrapped=True).state_dict())
    own.update({name: value for name, value in stored.items() if name in own and value.shape == own[name].shape})
    model.load_state_dict(own)


def picked_alone(model):
    own, stored = model.state_dict(), from_file({"model": Parts(wrapped=True).state_dict(), "epoch": 4})["model"]
    model.load_state_dict({name: value for name, value in stored.items() if name in own}, strict=False)


@pytest.mark.parametrize("load", [past_strict, picked_into_its_own, picked_alone])
def test_a_wrapper_inside_keeps_the_trunk_out_while_the_head_is_loaded(tmp_path, load):
    (fact,), (finding,) = told(tmp_path, Parts(), load)
    assert (fact.given, fact.loaded, fact.healed, fact.removed, fact.added) == (10, 4, 6, "trunk.module.", "trunk.")
    assert fact.filtered is (load is not past_strict)
    assert (finding.severity, finding.exact) == ("warning", False)
    assert "k.replace('trunk.module.', 'trunk.', 1)" in finding.remedy[0]


def test_a_file_that_holds_other_things_too(tmp_path):
    state = prefixed(Parts().trunk.state_dict(), "net.trunk.") | Parts().head.state_dict(prefix="head.")
    state |= {f"teacher.{number}.weight": torch.ones(3) for number in range(20)}
    (fact,), _ = told(tmp_path, Parts(), lambda model: model.load_state_dict(state, strict=False))
    assert (fact.loaded, fact.healed, fact.removed, fact.added) == (4, 6, "net.", "")


def another_trunk(model):
    state = Parts().state_dict()
    model.load_state_dict({name.replace("trunk", "decoder"): value for name, value in state.items()}, strict=False)


def a_head_of_another_name(model):
    state = Parts().state_dict()
    model.load_state_dict({name.replace("head.", "head.mlp."): value for name, value in state.items()}, strict=False)


def the_head_alone(model):
    stored = from_file(Parts().state_dict())
    model.load_state_dict({name: value for name, value in stored.items() if name.startswith("head.")}, strict=False)


def the_head_alone_without_its_wrapper(model):
    stored = from_file(nn.DataParallel(Parts()).state_dict())
    head = {n.removeprefix("module."): value for n, value in stored.items() if n.startswith("module.head.")}
    model.load_state_dict(head, strict=False)


def the_trunk_by_a_second_load(model):
    stored = Parts(wrapped=True).state_dict()
    model.load_state_dict(stored, strict=False)
    model.trunk.load_state_dict(
        {n.removeprefix("trunk.module."): value for n, value in stored.items() if n.startswith("trunk.")}
    )


def all_but_a_head_of_another_size(model):
    own, stored = model.state_dict(), from_file(Parts(head=7).state_dict())
    own.update({name: value for name, value in stored.items() if value.shape == own[name].shape})
    model.load_state_dict(own)


def renamed(model):
    own, stored = model.state_dict(), from_file(Parts(wrapped=True).state_dict())
    own.update({name.replace("module.", ""): value for name, value in stored.items()})
    model.load_state_dict(own)


def adapters(model):
    stored = from_file({f"trunk.{number}.lora_a": torch.ones(2, 3) for number in range(6)})
    model.load_state_dict({**model.state_dict(), **stored}, strict=False)


@pytest.mark.parametrize(
    "load",
    [
        another_trunk, a_head_of_another_name, the_head_alone, the_head_alone_without_its_wrapper,
        the_trunk_by_a_second_load, all_but_a_head_of_another_size, renamed, adapters,
    ],
)  # fmt: skip
def test_parts_that_are_left_out_on_purpose_are_silent(tmp_path, load):
    assert told(tmp_path, Parts(), load) == ([], [])


class Old(nn.Sequential):
    """With a method of its own, as some libraries have."""

    def named_parameters(self, prefix="", recurse=True):
        return super().named_parameters(prefix, recurse)


def lazy():
    return nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(2))


def test_modules_that_are_no_plain_ones(tmp_path):
    def load(model):
        model.load_state_dict(prefixed(net().state_dict(), "module."), strict=False)
        new = lazy()
        new.load_state_dict(lazy().state_dict())
        new.load_state_dict(prefixed(net().state_dict(), "module."), strict=False)
        new.load_state_dict({}, strict=False)

    (fact,), _ = told(tmp_path, Old(*net()), load)
    assert (fact.owner, fact.removed, fact.healed) == ("Old", "module.", 6)
