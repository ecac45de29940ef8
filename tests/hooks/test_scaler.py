"""Facts about the scaler hook: each of the four methods is told once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.scaler import ScalerHook, current_scale, is_unscaled


class Told(LoopEvents):
    """What a session would hear."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.scalers = ScalerHook(self, TrainingThread())

    def scaler_call(self, word: str, scaler: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.words.append(word)
        return original(scaler, *args, **kwargs)


@pytest.fixture
def told() -> Iterator[Told]:
    found = Told()
    found.scalers.install()
    yield found
    found.scalers.remove()


def a_step(scaler: Any, unscale: bool = False) -> tuple[torch.Tensor, torch.Tensor, Any]:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.ones(1, 2)).sum()
    scaled = scaler.scale(loss)
    scaled.backward()
    if unscale:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    return loss, scaled, optimizer


def test_the_methods_are_told_once_in_the_order_of_the_loop(told: Told) -> None:
    scaler = torch.amp.GradScaler("cpu")
    a_step(scaler, unscale=True)
    scaler.update()
    assert told.words == ["scale", "unscale", "step", "update"]


def test_what_the_scaler_calls_itself_is_part_of_its_step(told: Told) -> None:
    a_step(torch.amp.GradScaler("cpu"))
    assert told.words == ["scale", "step"]


def test_an_optimizer_is_unscaled_until_the_update(told: Told) -> None:
    scaler = torch.amp.GradScaler("cpu")
    assert not is_unscaled(scaler, object())
    _, _, optimizer = a_step(scaler, unscale=True)
    assert is_unscaled(scaler, optimizer)
    scaler.update()
    assert not is_unscaled(scaler, optimizer)


def test_a_scaler_that_is_switched_off_is_not_told(told: Told) -> None:
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    a_step(scaler)
    scaler.update()
    assert told.words == []


def test_a_scaler_of_the_user_s_own_class_is_told_once(told: Told) -> None:
    class Mine(torch.amp.GradScaler):
        def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            return super().step(optimizer, *args, **kwargs)

    a_step(Mine("cpu"))
    assert told.words == ["scale", "step"]


def test_what_the_scaler_raises_is_the_user_s_and_the_next_call_is_told(told: Told) -> None:
    scaler = torch.amp.GradScaler("cpu")
    _, _, optimizer = a_step(scaler, unscale=True)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    assert told.words[-2:] == ["unscale", "update"]


def test_the_scale_is_known_after_the_first_use() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    assert current_scale(scaler) is None
    scaler.scale(torch.ones(1))
    assert current_scale(scaler) == 256.0


def test_off_and_removed_nothing_is_told() -> None:
    before = {name: vars(torch.amp.GradScaler)[name] for name in ("scale", "unscale_", "step", "update")}
    told = Told()
    told.scalers.install()
    told.scalers.off = True
    a_step(torch.amp.GradScaler("cpu"))
    told.scalers.remove()
    a_step(torch.amp.GradScaler("cpu"))
    assert told.words == []
    assert {name: vars(torch.amp.GradScaler)[name] for name in before} == before
