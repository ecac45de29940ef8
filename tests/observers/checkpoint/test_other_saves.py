"""Saves by other means than torch.save."""

from __future__ import annotations

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn

from debugtracer.trace.events import Observed
from tests.watching import events, under_watch


def train(model, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().mean().backward()
        optimizer.step()


def told(out):
    return [
        (e.fact["means"], e.fact["ref"]["step"])
        for e in events(out)
        if isinstance(e, Observed) and e.word == "checkpoint/OtherSave"
    ]


def test_safetensors_after_the_first_update(tmp_path):
    library = pytest.importorskip("safetensors.torch")
    before = library.serialize_file
    with under_watch(tmp_path / "runs"):
        model = nn.Linear(3, 1)
        library.save_file(model.state_dict(), tmp_path / "0.safetensors")
        train(model)
        library.save_file(model.state_dict(), tmp_path / "1.safetensors")
        train(model)
    assert told(tmp_path / "runs") == [("safetensors", 2)]
    assert library.serialize_file is before


@pytest.mark.filterwarnings("ignore")
def test_torch_distributed_checkpoint(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = nn.Linear(3, 1)
        train(model)
        dcp.save(model.state_dict(), checkpoint_id=tmp_path / "dcp")
        train(model)
    assert told(tmp_path / "runs") == [("torch.distributed.checkpoint", 2)]


def test_the_capsule_of_an_incident_is_no_save_of_the_program(tmp_path):
    """A capsule keeps its tensors as safetensors, too."""
    with under_watch(tmp_path / "runs"):
        model = nn.Linear(3, 1)
        train(model, steps=3)
        (model(torch.zeros(2, 3)).square().mean() * torch.inf).backward()
    assert list((tmp_path / "runs").rglob("inputs.safetensors"))
    assert told(tmp_path / "runs") == []
