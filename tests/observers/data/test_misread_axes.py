"""Networks that are given scrambled pictures."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.misread_axes import MisreadAxes
from tests.observers.data.test_smooth_axes import HIGH, ROWS, WIDE, pictures
from tests.observers.told import facts, findings
from tests.watching import under_watch


def scrambled():
    pixels = pictures().permute(0, 2, 3, 1).reshape(ROWS, -1)
    return pixels.numpy().reshape(ROWS, 3, HIGH, WIDE)


def sound():
    pixels = pictures().reshape(ROWS, -1)
    return pixels.numpy().reshape(ROWS, 3, HIGH, WIDE)


def run(out, made, loader=True, steps=3, training=True, scaled=None):
    with under_watch(out):
        model = nn.Conv2d(3, 2, 3).train(training)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scans = torch.from_numpy(made())
        for _ in range(steps):
            for (x,) in DataLoader(TensorDataset(scans), batch_size=ROWS) if loader else ((scans,),):
                loss = model(x if scaled is None else x * scaled).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return facts(out, MisreadAxes), findings(out, "data/axes-misread")


@pytest.mark.parametrize("loader", [True, False])
def test_a_scrambled_input_is_told_once(tmp_path, loader):
    (fact,), (found,) = run(tmp_path, scrambled, loader)
    assert (fact.root, fact.shape, fact.sizes) == ("Conv2d", (ROWS, 3, HIGH, WIDE), (HIGH, WIDE, 3))
    assert fact.ref.step == 1 and found.place.symptom_frame.function == "run"


def test_a_sound_input_one_look_and_an_evaluation_are_silent(tmp_path):
    assert run(tmp_path / "a", sound) == ([], [])
    assert run(tmp_path / "b", scrambled, steps=1) == ([], [])
    assert run(tmp_path / "c", scrambled, training=False) == ([], [])


def test_what_was_computed_with_a_graph_is_not_asked(tmp_path):
    assert run(tmp_path, scrambled, scaled=torch.ones(1, requires_grad=True)) == ([], [])


def test_networks_that_were_looked_at_are_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["misread-axes"]
        nn.Conv2d(3, 2, 3)(torch.from_numpy(sound()))
        assert observer.now
        session.dispatcher.missed()
        assert not observer.now
