"""Settings that are written where no optimizer reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import Optimizer

from debugtracer.observers.optimizer.unread_settings import written
from debugtracer.trace.facts.misspelt_name import MisspeltName
from tests.observers.observing import observed


class Own(torch.optim.SGD):
    """An optimizer that has a use for such an attribute."""


def looks(out: Path, change: Callable[[Optimizer, int], None], kind: type[Optimizer] = torch.optim.SGD) -> list[object]:
    """What a run emits that changes its optimizer as it goes."""

    def loop() -> None:
        net = nn.Linear(4, 2)
        optimizer = kind(net.parameters(), lr=0.01)  # type: ignore[call-arg]
        for step in range(5):
            change(optimizer, step)
            loss = net(torch.randn(8, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return [
        (one.name, one.given, one.used, one.frame.code if one.frame else "")
        for one in observed(out, loop, MisspeltName)
    ]


def attribute(chosen: Optimizer, step: int) -> None:
    chosen.lr = 0.001 if step > 2 else 0.01  # type: ignore[attr-defined]


def defaults(held: Optimizer, step: int) -> None:
    if step == 3:
        held.defaults["lr"] *= 0.1


def groups(sgd: Optimizer, step: int) -> None:
    rate = sgd.learning_rate = 0.01 * 0.5**step  # type: ignore[attr-defined]
    for group in sgd.param_groups:
        group["lr"] = rate


@pytest.mark.parametrize(
    ("change", "name", "given"),
    [(attribute, "chosen.lr", 0.001), (defaults, 'held.defaults["lr"]', 0.001)],
)
def test_a_rate_that_no_group_holds(tmp_path: Path, change: Callable[[Optimizer, int], None], name: str, given: float):
    ((told, value, used, code),) = looks(tmp_path, change)
    assert (told, used) == (name, 0.01) and value == pytest.approx(given)
    assert str(code).startswith(name)


@pytest.mark.parametrize("change", [groups, lambda optimizer, step: None])
def test_a_rate_that_the_groups_get_is_none(tmp_path: Path, change: Callable[[Optimizer, int], None]):
    assert looks(tmp_path, change) == []


def test_an_optimizer_of_the_program_may_read_it(tmp_path: Path):
    assert looks(tmp_path, attribute, Own) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("optimizer.lr = 0.1\nprint(optimizer.lr)", 1),
        ("optimizer.lr = 0.1\nrate = optimizer.lr * 2", 0),
        ("self.optimizer.lr = 0.1\nconfig.lr = config.lr * 2", 0),
        ("x = 1\nself.optimizer.learning_rate = 0.1", 2),
    ],
)
def test_what_the_program_reads_itself_is_none(tmp_path: Path, text: str, line: int):
    (tmp_path / "train.py").write_text(text)
    _, frame = written({"lr", "learning_rate"}, "lr", [str(tmp_path / "train.py")])
    assert (0 if frame is None else frame.line) == line
