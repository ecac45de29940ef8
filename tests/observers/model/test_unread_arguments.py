"""Arguments of forward that are given and never read."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.unread_argument import UnreadArgument
from tests.observers.observing import facts
from tests.watching import under_watch


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 2)


class Copied(Net):
    def forward(self, a, b):
        return (self.body(a) - 2 * self.body(a)).sum()


class Both(Net):
    def forward(self, a, b):
        return (self.body(a) - self.body(b) + a.sum()).sum()


class Captured(Net):
    def forward(self, a, b):
        return (lambda: self.body(a) - self.body(a) + b.sum())().sum()


class Once(Net):
    def forward(self, a, b):
        return self.body(a).sum()


def seen(folder: Path, kind: type[Net], shape: tuple[int, ...] = (4, 3)) -> list[UnreadArgument]:
    model = kind()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(folder):
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(4, 3), b=torch.randn(shape)).backward()
            optimizer.step()
    return facts(folder, UnreadArgument)


def test_a_branch_that_was_copied_is_told_at_its_line(tmp_path: Path) -> None:
    (fact,) = seen(tmp_path, Copied)
    assert (fact.root, fact.argument, fact.other, fact.reads, fact.shape) == ("Copied", "b", "a", 2, (4, 3))
    assert fact.frame.code == "return (self.body(a) - 2 * self.body(a)).sum()"


@pytest.mark.parametrize("kind", [Both, Captured, Once])
def test_what_is_read_or_has_no_twin_is_silent(tmp_path: Path, kind: type[Net]) -> None:
    assert seen(tmp_path, kind) == []


def test_one_of_another_shape_is_silent(tmp_path: Path) -> None:
    assert seen(tmp_path, Copied, (4, 5)) == []
