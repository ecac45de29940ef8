"""The replica of a rank in a group of one process, and calls round the wrapper. Two ranks are in
tests/end_to_end/test_ranks.py."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.replicas import Replica
from tests.observers.observing import fit, observed

DATA = TensorDataset(torch.randn(24, 3), torch.arange(24) % 2)


@pytest.fixture
def group(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_a_wrapped_model_is_looked_at_in_the_first_steps(group, tmp_path):
    def loop():
        model = DistributedDataParallel(nn.Linear(3, 2))
        fit(DataLoader(DATA, 4), model)

    found = observed(tmp_path / "runs", loop, Replica)
    assert [fact.ref.step for fact in found] == [0, 1, 2]
    first, second = found[:2]
    assert (first.wrapper, first.group, first.names, first.bypassed, first.lr, first.hooked) == (
        "DistributedDataParallel", (0,), ("weight", "bias"), None, 0.01, False,
    )  # fmt: skip
    assert first.frame.code == "model = DistributedDataParallel(nn.Linear(3, 2))"
    assert first.before != second.before
    assert 0 not in first.grads


def test_a_call_round_the_wrapper_is_seen_and_an_evaluation_is_none(group, tmp_path):
    def loop():
        model = DistributedDataParallel(nn.Linear(3, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step, (x, y) in enumerate(DataLoader(DATA, 8)):
            with torch.no_grad():
                model.module(x)
            out = model.module(x) if step == 1 else model(x)
            loss = nn.functional.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    found = observed(tmp_path / "runs", loop, Replica)
    assert [fact.bypassed is not None for fact in found] == [False, True, True]
    assert found[1].bypassed.code == "out = model.module(x) if step == 1 else model(x)"


class Scorer(nn.Module):
    """Has a method beside its forward."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(3, 2), nn.Linear(2, 2)])

    def forward(self, x):
        return self.scores(x)

    def scores(self, x):
        return through(x, list(self.parts))


def through(x, parts):
    for part in parts:
        x = part(x)
    return x


def test_a_method_of_the_inner_model_is_told_at_the_line_that_calls_it(group, tmp_path):
    def loop():
        model = DistributedDataParallel(Scorer())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in DataLoader(DATA, 8):
            loss = nn.functional.cross_entropy(model.module.scores(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    found = observed(tmp_path / "runs", loop, Replica)
    assert found[0].bypassed.code == "loss = nn.functional.cross_entropy(model.module.scores(x), y)"


def test_without_a_wrapper_there_is_no_replica(tmp_path):
    assert observed(tmp_path, lambda: fit(DataLoader(DATA, 4)), Replica) == []
    assert DistributedDataParallel.__init__.__qualname__ == "DistributedDataParallel.__init__"


def test_weights_that_are_loaded_after_the_wrapping_are_noted_with_their_line(group, tmp_path):
    def loop():
        first = nn.Linear(3, 2)
        first.load_state_dict(nn.Linear(3, 2).state_dict())
        model = DistributedDataParallel(first)
        fit(DataLoader(DATA, 4), model)
        model.module.load_state_dict(nn.Linear(3, 2).state_dict())
        fit(DataLoader(DATA, 24), model)

    found = observed(tmp_path / "runs", loop, Replica)
    assert found[0].loaded is None


def test_the_line_of_such_a_load(group, tmp_path):
    def loop():
        model = DistributedDataParallel(nn.Linear(3, 2))
        model.module.load_state_dict(nn.Linear(3, 2).state_dict())
        fit(DataLoader(DATA, 4), model)

    found = observed(tmp_path / "runs", loop, Replica)
    assert found[0].loaded.code == "model.module.load_state_dict(nn.Linear(3, 2).state_dict())"


def test_parameters_that_a_conversion_replaced_are_counted(group, tmp_path):
    def loop():
        model = DistributedDataParallel(nn.Linear(3, 2))
        fit(DataLoader(DATA, 4), model)
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        try:
            model.double().float()
        finally:
            torch.__future__.set_overwrite_module_params_on_conversion(False)
        fit(DataLoader(DATA, 24), model)

    found = observed(tmp_path / "runs", loop, Replica)
    assert [fact.replaced for fact in found] == [0, 0, 0, 2]  # the second optimizer has the next steps looked at
    assert found[0].names == ("weight", "bias")


def test_a_model_that_is_converted_after_the_wrapping(group, tmp_path):
    def loop():
        model = DistributedDataParallel(nn.Linear(3, 2))
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        try:
            model.double().float()
        finally:
            torch.__future__.set_overwrite_module_params_on_conversion(False)
        fit(DataLoader(DATA, 4), model)

    assert [fact.replaced for fact in observed(tmp_path / "runs", loop, Replica)] == [2, 2, 2]
