"""Which root calls without a graph are told at rest: the first after each batch, what may be a loss, the first of each
mode."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from debugtracer.hooks.events.silent_calls import SilentCalls
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.training_events import TrainingEvents


class Told(TrainingEvents):
    def __init__(self) -> None:
        self.words: list[str] = []

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        self.words.append("in")

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self.words.append("out")


def call(silent: SilentCalls, module: nn.Module, output: torch.Tensor) -> None:
    silent.entered(module, ())
    silent.left(module, (), {}, output)


def test_an_agent_that_plays_is_told_of_once_and_an_evaluation_of_each_batch_and_loss() -> None:
    told, state, module = Told(), RunState(), nn.Linear(1, 1)
    silent = SilentCalls(state, told)
    for _ in range(3):
        call(silent, module, torch.ones(4))
    assert told.words == ["in", "out"]
    state.fetched()
    call(silent, module, torch.ones(4))
    assert told.words == ["in", "out", "in"]
    call(silent, module.eval(), torch.ones(4))
    assert told.words == ["in", "out", "in", "out"]
    call(silent, module, torch.tensor(0.5))
    assert told.words[4:] == ["out"]
    silent.begin()
    call(silent, module, torch.ones(4))
    assert told.words[5:] == ["in", "out"]
