"""GradScalers in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.trace.facts.amp import AutocastSeen, ScalerRefused, ScalerSetup
from debugtracer.trace.store.reader import open_trace
from tests.observers.loops import data, mse, net, scaled
from tests.observers.observing import facts, observed
from tests.watching import under_watch


def test_arguments_autocast_and_scale_are_told(tmp_path: Path):
    (setup,) = observed(tmp_path / "runs", lambda: scaled(2.0**10, 4), ScalerSetup)
    assert (setup.enabled, setup.init_scale, setup.growth_factor, setup.backoff_factor, setup.growth_interval) == (
        True,
        1024.0,
        2.0,
        0.5,
        2000,
    )
    assert setup.frame is not None
    assert "GradScaler(" in setup.frame.code
    (cast,) = facts(tmp_path / "runs", AutocastSeen)
    assert (cast.device, cast.dtype, cast.scaled) == ("cpu", "float16", True)


def test_scale_and_skips_are_series(tmp_path: Path):
    with under_watch(tmp_path / "runs"):
        scaled(2.0**24, 40)
    skipped, scale = [open_trace(tmp_path / "runs").series(name)[1] for name in ("scaler_skipped", "loss_scale")]
    assert skipped[0] == 1.0
    assert skipped[-1] == 0.0
    assert scale[0] == 2.0**24
    assert scale[-1] < scale[0]


def test_a_scaler_that_is_off_is_known_too(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        for x, y in data(3):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                out = model(x)
            scaler.scale(mse(out.float(), y)).backward()
            scaler.step(optimizer)
            scaler.update()

    assert [s.enabled for s in observed(tmp_path / "runs", loop, ScalerSetup)] == [False]
    assert [c.scaled for c in facts(tmp_path / "runs", AutocastSeen)] == [False]


def misused(what: str) -> None:
    model = net().half() if what == "half" else net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for x, y in data(3):
        optimizer.zero_grad()
        loss = mse(model(x.half() if what == "half" else x).float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if what == "twice":
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        if what != "no update":
            scaler.update()


@pytest.mark.parametrize(
    ("what", "told", "iteration", "error"),
    [
        ("twice", "unscaled twice", 0, RuntimeError),
        ("no update", "unscaled after step", 1, RuntimeError),
        ("half", "half gradients", 0, ValueError),
    ],
)
def test_what_the_scaler_refuses_is_told_and_raises_as_without_us(
    tmp_path: Path, what: str, told: str, iteration: int, error: type[Exception]
):
    with under_watch(tmp_path / "runs"), pytest.raises(error):
        misused(what)
    (refused,) = facts(tmp_path / "runs", ScalerRefused)
    assert (refused.what, refused.ref.iteration, refused.optimizer) == (told, iteration, "SGD")
    assert refused.frame is not None
    assert "scaler.unscale_(optimizer)" in refused.frame.code
