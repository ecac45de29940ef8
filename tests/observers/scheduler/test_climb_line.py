"""The line that makes a rate climb."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.observers.scheduler.climb_line import climb_line
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Rate
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed

OF_A_FUNCTION = """\
def rate(step):
    if step < WARMUP:
        return BASE * (step + 1)
    return BASE * (1 - (step - WARMUP) / STEPS)
for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
"""
OF_A_NAME = """\
def adjust(optimizer, it, args):
    if it < args.warm:
        lr = args.lr * float(it + 1)
    else:
        lr = args.lr * 0.5 ** (it // args.every)
    for g in optimizer.param_groups:
        g["lr"] = lr
"""
OF_A_CLASS = """\
class Noam:
    def rate(self):
        warm = self.base * self.steps
        return warm if self.steps < self.warm else self.base
    def step(self):
        self.optimizer.param_groups[0]["lr"] = self.rate()
"""
IN_BRANCHES = """\
if n < 10:
    group["lr"] = base * (n + 1)
else:
    group["lr"] = base
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (OF_A_FUNCTION, 3),
        (OF_A_NAME, 3),
        (OF_A_CLASS, 3),
        (IN_BRANCHES, 2),
        ('group["lr"] = base * (n + 1) if n < 10 else base\n', 1),
        ('group["lr"] = (base * (n + 1) if n < 10\n    else base + base * n)\n', None),  # two
        ('group["lr"] = base * (n + 1) / warm if n < warm else base\n', None),
        ('group["lr"] = base * min(n + 1, warm)\n', None),
        ('group["lr"] = base * 0.9\n', None),
        ('group["lr"] = 2 * 3\n', None),
        ('group["lr"] = 1e-3 * (n + 1) if n < 10 else 1e-3\n', 1),
        ('group["lr"] = base * n\n', 1),
        ('group["lr"] = base\n', None),
        ('group["momentum"] = base * n\n', None),
    ],
)
def test_the_only_line_that_counts_up(tmp_path: Path, text: str, line: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(text)
    found = climb_line([str(tmp_path / "none.py"), str(file)])
    assert (found.line if found is not None else None) == line


def test_the_function_of_a_scheduler(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(OF_A_FUNCTION)
    found = climb_line([], Frame(str(file), 4, "rate"))
    assert found is not None
    assert (found.line, found.function, found.code) == (3, "rate", "return BASE * (step + 1)")
    assert climb_line([], Frame(str(file), 4, "<lambda>")) is None
    assert climb_line([], Frame(str(file), 7, "<module>")) is None
    assert climb_line([], Frame(str(tmp_path / "none.py"), 1)) is None


def rising(step: int) -> float:
    if step < 8:
        return float(step + 1)
    return 1.0


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_rate_that_fell_in_a_real_loop(tmp_path: Path, by_hand: bool) -> None:
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        schedule = None if by_hand else torch.optim.lr_scheduler.LambdaLR(optimizer, rising)
        for n, (x, y) in enumerate(data(12)):
            if by_hand:
                optimizer.param_groups[0]["lr"] = 1e-4 * rising(n)
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()

    begun, *_, fallen = observed(tmp_path / "runs", loop, Rate)
    assert begun.climb_frame is None
    assert fallen.climb_frame is not None
    assert fallen.climb_frame.code == "return float(step + 1)"
