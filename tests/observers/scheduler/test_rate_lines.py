"""The line of a rate."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.callsites.frames import raw_frames
from debugtracer.observers.scheduler.rate_lines import (
    RateLines,
    built_line,
    built_rates,
    fraction_line,
    name_of,
    written_line,
)
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import Rate
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed

RATE = 0.125
ANNEALED = """\
for turn in range(rounds):
    left = 1.0 - turn / batches
    now = left * args.rate
    for group in optimizer.param_groups:
        group["lr"] = now
"""


def test_a_rate_of_a_group_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text('optimizer = Adam([\n    {"params": a, "lr": 1e-2},\n    {"params": b, "lr": 1.0},\n])\n')
    a, b = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.Adam([{"params": [a], "lr": 1e-2}, {"params": [b], "lr": 1.0}])
    found = built_line(optimizer, (Frame(str(file), 1),), 1.0)
    assert found is not None
    assert found.line == 3
    assert built_line(optimizer, (Frame(str(file), 1),), 0.7) is None
    assert built_line(optimizer, (), 1.0) is None
    assert built_rates(optimizer) == [1e-3, 1e-3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (ANNEALED, 2),
        ('if late:\n    optimizer.param_groups[0]["lr"] = 0.1\n', 2),
        ('for group in groups:\n    group["lr"] *= 0.5\n', 2),
        ('def adjust(optimizer, lr):\n    for g in optimizer.param_groups:\n        g["lr"] = lr\n', 3),
        ('def adjust(optimizer, epoch):\n    lr = base * 0.1 ** epoch\n    group["lr"] = lr\n', 2),
        ('group["lr"] = 1\ngroup["lr"] = 2\n', None),
        ('group["weight_decay"] = 1\n', None),
        ('def step():\n    group["lr"] = rate() / 3\nif late:\n    group["lr"] /= 10\n', 2),
        ('if early:\n    group["lr"] = rate() / 3\nif late:\n    group["lr"] /= 10\n', None),
    ],
)
def test_the_line_that_writes_or_computes_it(tmp_path: Path, text: str, line: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(text)
    found = written_line([str(file), str(file)])
    assert (found.line if found is not None else None) == line


def test_of_two_optimizers_the_line_of_the_one_that_is_asked_for_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(
        "self.one = Adam(a, lr=1)\nself.two = Adam(b, lr=1)\ndef decay():\n    left = 1 - t / n\n    less = 1 - t / m\n"
        '    for group in self.one.param_groups:\n        group["lr"] = left\n'
        '    for group in self.two.param_groups:\n        group["lr"] = less\n'
    )
    built = (Frame(str(file), 2),)
    assert name_of(built) == "self.two"
    assert name_of(()) == ""
    assert written_line([str(file)], -0.1) is None
    found = written_line([str(file)], -0.1, name_of(built))
    assert found is not None
    assert found.line == 5


def test_a_write_of_another_number_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text('opt.param_groups[0]["lr"] = 0.01\npeak = base * 16\nfor g in groups:\n    g["lr"] = peak\n')
    for rate, line in ((1.6, 2), (0.01, None), (None, None)):
        found = written_line([str(file)], rate)
        assert (found.line if found is not None else None) == line


def test_a_constant_in_a_real_loop(tmp_path: Path) -> None:
    def loop() -> None:
        rate = 0.01
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        for x, y in data(4):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, Rate)
    assert fact.rate_frame is not None
    assert fact.rate_frame.code == "rate = 0.01"


COSINE = """\
def factor(step, begin, end):
    ratio = step / 7
    done = (step - begin) / (end - begin)
    warped = math.cos(done * math.pi)
    return 0.5 * warped
"""
BY_HAND = """\
def adjust(optimizer, step, total):
    share = float(step / total)
    lr = BASE * (1 - share) ** 3
    for group in optimizer.param_groups:
        group["lr"] = lr
"""


@pytest.mark.parametrize(
    ("text", "at", "line"),
    [
        (COSINE, 5, 3),
        (BY_HAND, 3, 2),
        (COSINE.replace("(step - begin) / (end - begin)", "min(1.0, (step - begin) / (end - begin))"), 5, None),
        (COSINE.replace("math.cos(done", "math.cos(np.clip(done, 0, 1)"), 5, None),
        (COSINE.replace("0.5 * warped", "0.5 * warped * ratio"), 5, None),
        ("def factor(step):\n    return 1 - step / 80\n", 2, None),
        ("rate = 1 - n / 80\n", 1, None),
    ],
    ids=["a cosine", "by hand", "bounded", "bounded later", "two", "on the line itself", "no function"],
)
def test_the_fraction_that_runs_through_its_end(tmp_path: Path, text: str, at: int, line: int | None) -> None:
    file = tmp_path / "schedule.py"
    file.write_text(text)
    found = fraction_line(Frame(str(file), at, "factor"))
    assert (found.line if found is not None else None) == line


def test_a_rate_below_0_comes_with_the_fraction_and_one_above_does_not(tmp_path: Path) -> None:
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        def factor(step: int) -> float:
            done = step / 4
            return 1.0 - done

        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        for x, y in data(7):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            scheduler.step()

    told = observed(tmp_path / "runs", loop, Rate)
    below = [f.fraction_frame and f.fraction_frame.code for f in told if float(f.low) < 0]
    assert below and set(below) == {"done = step / 4"}
    assert {f.fraction_frame for f in told if float(f.low) >= 0} <= {None}


def test_the_optimizers_of_one_line_are_read_about_once() -> None:
    made = [(torch.optim.SGD([torch.nn.Parameter(torch.zeros(2))], lr=RATE), raw_frames()) for _ in range(5)]
    lines = RateLines(lambda optimizer: made[0][1])
    found = [lines.line(optimizer, RATE, [RATE], True) for optimizer, _ in made]
    assert {one.code for one in found if one is not None} == {"RATE = 0.125"}
    assert len(lines.known) == 1
