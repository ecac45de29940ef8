"""What the tape keeps of an update besides its gradients: the settings of its time, and when it was closed."""

from __future__ import annotations

import torch
from torch import nn

from tests.recorder.watched import Watched


class Segments(Watched):
    """Notes each closed segment: the number of the next one, the step that begins, and whether the time of the last one
    is known."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int, bool]] = []
        super().__init__()

    def segment_closed(self) -> None:
        self.told.append((self.tape.current.number, self.state.step, self.state.step_s > 0))


def test_each_update_on_the_tape_has_the_settings_of_its_time() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    with Watched() as watched:
        for lr in (0.1, 0.3, 0.2):
            optimizer.param_groups[0]["lr"] = lr
            model(torch.randn(2, 3)).mean().backward()
            optimizer.step()
            assert watched.tape.previous is not None
            seen += [e.settings[0]["lr"] for e in watched.tape.previous.entries if e.kind == "step"]
    assert seen == [0.1, 0.3, 0.2]


def test_the_ring_is_told_of_each_step_once_its_segment_is_closed() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Segments() as watched:
        for _ in range(3):
            model(torch.randn(2, 3)).mean().backward()
            optimizer.step()
    assert watched.told == [(1, 1, True), (2, 2, True), (3, 3, True)]


def test_a_step_that_a_scaler_skips_is_closed_as_well() -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    with Segments() as watched:
        for scale in (1.0, float("inf"), 1.0):
            optimizer.zero_grad()
            scaler.scale(model(torch.randn(2, 3)).mean() * scale).backward()
            watched.gate.scaler_step(scaler, type(scaler).step, (optimizer,), {}, 1.0)
            scaler.update()
    assert [step for _, step, _ in watched.told] == [1, 2, 3]
    assert watched.state.skipped == 1
