"""Files are read once more when they are loaded."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.checkpoint import checkpoint_file
from debugtracer.trace.events import Observed
from tests.watching import events, under_watch


def train(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().mean().backward()
        optimizer.step()


def damaged(path, model):
    torch.save(model.state_dict(), path)
    content = bytearray(path.read_bytes())
    content[content.find(model.weight.detach().numpy().tobytes()) + 3] ^= 1
    path.write_bytes(content)
    return path


def told(out):
    return [e.fact for e in events(out) if isinstance(e, Observed) and e.word == "checkpoint-file/DamagedFile"]


@pytest.mark.parametrize("as_file", [False, True])
def test_a_damaged_file_is_told_once_with_the_line_that_loads(tmp_path, as_file):
    before = torch.load
    model = nn.Linear(3, 3)
    path = damaged(tmp_path / "a.pt", model)
    with under_watch(tmp_path / "runs"):
        train(model, 2)
        for _ in range(2):
            if as_file:
                with path.open("rb") as file:
                    model.load_state_dict(torch.load(file))
            else:
                model.load_state_dict(torch.load(path))
        train(model, 2)
    (fact,) = told(tmp_path / "runs")
    assert (fact["path"], fact["tensors"], fact["count"], fact["loaded"]) == (str(path), ["weight"], 1, True)
    assert "torch.load" in fact["frame"]["code"]
    assert torch.load is before


def test_sound_files_are_silent_and_no_more_than_some_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_file, "MOST_FILES", 2)
    model = nn.Linear(3, 3)
    paths = [tmp_path / f"{n}.pt" for n in range(3)]
    for path in paths[:2]:
        torch.save(model.state_dict(), path)
    damaged(paths[2], model)
    with under_watch(tmp_path / "runs"):
        for path in paths:
            model.load_state_dict(torch.load(path))
        train(model, 2)
    assert told(tmp_path / "runs") == []


def test_a_load_that_fails_is_told_and_raises_as_before(tmp_path):
    model = nn.Linear(3, 3)
    path = tmp_path / "a.pt"
    torch.save(model.state_dict(), path)
    path.write_bytes(path.read_bytes()[:700])
    with under_watch(tmp_path / "runs"):
        train(model, 2)
        with pytest.raises((RuntimeError, OSError)):
            torch.load(path)
        train(model, 1)
    (fact,) = told(tmp_path / "runs")
    assert (fact["cut"], fact["loaded"], fact["size_bytes"]) == (True, False, 700)
