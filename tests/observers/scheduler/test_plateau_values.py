"""What a plateau scheduler is called with."""

from __future__ import annotations

import pytest
import torch
from torch.optim import lr_scheduler as S

from debugtracer.trace.facts.plateau_fed import PlateauFed
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed


def fed(out, values, make=lambda optimizer: S.ReduceLROnPlateau(optimizer, "max", factor=0.5, patience=0)):
    def loop():
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = make(optimizer)
        for value in values:
            for x, y in data(8):
                optimizer.zero_grad()
                mse(model(x), y).backward()
                optimizer.step()
            scheduler.step(value)

    return observed(out, loop, PlateauFed)


def test_each_value_is_read_with_the_rate_after_it(tmp_path):
    found = fed(tmp_path / "runs", [0.5, torch.tensor(0.25), 0.125])
    assert [(f.value, round(float(f.rate), 6), f.mode, f.patience, f.relative) for f in found] == [
        (0.5, 0.1, "max", 0, True), (0.25, 0.05, "max", 0, True), (0.125, 0.025, "max", 0, True),
    ]  # fmt: skip
    assert "S.ReduceLROnPlateau(" in found[0].frame.code
    assert found[0].step_frame.code == "scheduler.step(value)"


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("make", [lambda optimizer: S.StepLR(optimizer, 2)])
def test_other_schedulers_are_not_read(tmp_path, make):
    assert fed(tmp_path / "runs", [1, 2], make) == []
