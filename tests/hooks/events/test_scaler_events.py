"""What a GradScaler is asked, as observers hear it and as the tape writes it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from tests.watching import under_watch


class Words(Observer):
    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.words: list[str] = []

    def scaler_called(self, word: str, scaler: Any, args: Any, kwargs: Any) -> None:
        self.words.append(word)

    def scaler_returned(self, word: str, scaler: Any, args: Any, kwargs: Any) -> None:
        self.words.append(f"{word} done")


def test_the_calls_are_told_in_order_and_one_step_is_counted(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        words = Words(session.observed_run)
        session.dispatcher.listeners = {
            "scaler_called": [words.scaler_called],
            "scaler_returned": [words.scaler_returned],
        }
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
        scaler.scale(model(torch.ones(1, 2)).sum()).backward()
        kinds = [entry.kind for entry in session.tape.current.entries]
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert words.words == [w for word in ("scale", "unscale", "step", "update") for w in (word, f"{word} done")]
        assert kinds[-1] == "backward"
        assert session.state.step == 1
