"""What computes a loss otherwise than in the steps before, read from the tapes of a real session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.diagnosis.loop_changes import loop_changes
from debugtracer.diagnosis.loss_definition import changed_setting
from debugtracer.session import Session
from debugtracer.trace.facts.loop_change import LoopChange
from tests.watching import under_watch

AT = 14
EVEN, SKEWED = torch.ones(3), torch.tensor([1.0, 5.0, 20.0])
Loss = Callable[[int, Tensor, Tensor], Tensor]


@pytest.fixture(autouse=True)
def _left_alone() -> Iterator[None]:
    yield
    session.stop()


class Margin(nn.Module):
    def __init__(self, weight: Tensor, scale: float = 1.0):
        super().__init__()
        self.weight, self.scale = weight, scale

    def forward(self, scores: Tensor, classes: Tensor) -> Tensor:
        return nn.functional.cross_entropy(self.scale * scores, classes, self.weight)


def changes(watching: Session, loss_of: Loss) -> list[LoopChange]:
    """Those of the last of some steps, in all of which this function computes the loss."""
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(AT + 1):
        loss = loss_of(step, model(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    jumps = watching.incidents.findings.jumps
    return list(loop_changes(AT, tuple(jumps.context.ring.tapes), jumps.context, 0))


def weighed(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, classes, weight=SKEWED if step == AT else EVEN)


def criterion(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    return Margin(SKEWED if step == AT else torch.ones(3))(scores, classes)


def another(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    kind = nn.MultiMarginLoss if step == AT else nn.CrossEntropyLoss
    return kind()(scores, classes)  # type: ignore[no-any-return]


def joined(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    loss = nn.functional.cross_entropy(scores, classes)
    if step == AT:
        loss = loss + scores.square().mean()
    return loss


def factor(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, classes) * (9.0 if step == AT else 0.5)


@pytest.mark.parametrize(
    ("loss_of", "what", "line"),
    [
        (weighed, "weights", "cross_entropy(scores, classes, weight=SKEWED"),
        (criterion, "weights", "Margin(SKEWED"),
        (another, "term", "kind()(scores, classes)"),
        (joined, "term", "scores.square()"),
        (factor, "", "(9.0 if step == AT"),
    ],
)
def test_another_loss_is_told_with_its_line(tmp_path, loss_of, what, line):
    with under_watch(tmp_path) as watching:
        (told,) = changes(watching, loss_of)
    assert (told.of_loss, told.what, told.ref.step) == (True, what, AT)
    assert line in told.frame.code


def drawn(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    return nn.functional.cross_entropy(scores, classes, weight=torch.rand(3))


def scaled_data(step: int, scores: Tensor, classes: Tensor) -> Tensor:
    return Margin(EVEN)(scores, classes)


@pytest.mark.parametrize("loss_of", [drawn, scaled_data])
def test_weights_that_are_drawn_and_a_criterion_built_alike_are_no_news(tmp_path, loss_of):
    with under_watch(tmp_path) as watching:
        assert changes(watching, loss_of) == []


def test_a_number_before_the_model_is_not_of_the_loss(tmp_path):
    with under_watch(tmp_path) as watching:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(AT + 1):
            loss = model(torch.randn(8, 4) * (9.0 if step == AT else 0.5)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        jumps = watching.incidents.findings.jumps
        (told,) = loop_changes(AT, tuple(jumps.context.ring.tapes), jumps.context, 0)
    assert not told.of_loss


def test_a_setting_that_always_varied_is_none():
    assert changed_setting({"gamma": 2.0}, [{"gamma": 1.0}] * 8) == "gamma"
    assert changed_setting({"gamma": 2.0}, [{"gamma": 1.0}, {"gamma": 3.0}]) == ""
    assert changed_setting({"": "Focal"}, [{"": "Plain"}] * 8) == "Focal"
    assert changed_setting({"weight": torch.ones(2)}, [{"weight": torch.ones(2)}] * 8) == ""
