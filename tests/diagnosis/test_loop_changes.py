"""What a loop did in the step whose loss stood out, read from the tapes of a real session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.diagnosis.loop_changes import FEWEST, has_grown, is_sudden, loop_changes
from debugtracer.session import Session
from debugtracer.trace.facts.loop_change import LoopChange
from tests.watching import under_watch

AT = 14


@pytest.fixture(autouse=True)
def _left_alone() -> Iterator[None]:
    yield
    session.stop()


def plain(step: int, loss: Tensor) -> Tensor:
    """A loss as it is."""
    return loss


def nothing(step: int, model: nn.Module) -> None:
    """A loop that writes no weight."""


def changes(
    watching: Session,
    write: Callable[[int, nn.Module], None] = nothing,
    weigh: Callable[[int, Tensor], Tensor] = plain,
    steps: int = AT + 1,
) -> list[LoopChange]:
    """Those of the last of some steps, in which `write` may write weights and `weigh` may scale the loss."""
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        write(step, model)
        loss = weigh(step, nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    jumps = watching.incidents.findings.jumps
    return list(loop_changes(steps - 1, tuple(jumps.context.ring.tapes), jumps.context, 0))


def overwrite(model: nn.Module) -> None:
    """Set all weights."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.ones_like(parameter))


def test_a_line_that_writes_weights_for_the_first_time_is_told(tmp_path):
    def once(step: int, model: nn.Module) -> None:
        if step == AT:
            overwrite(model)

    with under_watch(tmp_path) as watching:
        (told,) = changes(watching, write=once)
    assert told.params == ("weight", "bias")
    assert (told.function, told.steps, told.ref.step) == ("copy_", AT, AT)
    assert told.frame.code == "parameter.copy_(torch.ones_like(parameter))"
    assert "wrote weight and 1 more parameters, in none of the 14 steps before" in told.words


def test_a_data_write_is_told_too(tmp_path):
    def once(step: int, model: nn.Module) -> None:
        if step == AT:
            model.weight.data.mul_(30)

    with under_watch(tmp_path) as watching:
        assert [told.params for told in changes(watching, write=once)] == [("weight",)]


def test_the_line_is_the_innermost_that_no_step_before_came_through(tmp_path):
    other = nn.Linear(4, 1).requires_grad_(False)

    def mirrored(step: int, model: nn.Module) -> None:
        overwrite(other)
        if step == AT:
            overwrite(model)  # here

    with under_watch(tmp_path) as watching:
        (told,) = changes(watching, write=mirrored)
    assert told.frame.code == "overwrite(model)  # here"


def test_a_loop_that_writes_in_every_step_does_nothing_new(tmp_path):
    with under_watch(tmp_path) as watching:
        assert changes(watching, write=lambda step, model: model.weight.data.clamp_(-1, 1)) == []


def test_a_factor_that_jumps_is_told_with_what_it_was(tmp_path):
    with under_watch(tmp_path) as watching:
        (told,) = changes(watching, weigh=lambda step, loss: loss * (40.0 if step == AT else 0.5))
    assert (float(told.before), float(told.after), told.sudden) == (0.5, 40.0, True)
    assert told.explains(80) and not told.explains(81)
    assert "was given 40, in the 14 steps before 0.5 as a rule" in told.words


def test_a_factor_that_grows_is_told_as_no_sudden_one(tmp_path):
    with under_watch(tmp_path) as watching:
        (told,) = changes(watching, weigh=lambda step, loss: loss * 1.05**step)
    assert not told.sudden
    assert not told.explains(1.0)


@pytest.mark.parametrize("weight", [lambda step: 0.5, lambda step: 1.0 + 0.3 * math.sin(step), lambda step: 0.99**step])
def test_a_factor_that_stays_wanders_or_fades_is_no_news(tmp_path, weight):
    with under_watch(tmp_path) as watching:
        assert changes(watching, weigh=lambda step, loss: loss * weight(step)) == []


def test_few_steps_tell_nothing(tmp_path):
    with under_watch(tmp_path) as watching:
        found = changes(watching, weigh=lambda step, loss: loss * (40.0 if step == FEWEST - 1 else 0.5), steps=FEWEST)
    assert found == []


def test_what_is_sudden_and_what_has_grown():
    assert is_sudden(5.0, [1.0] * 8)
    assert not is_sudden(1.2, [1.0] * 8)
    assert not is_sudden(5.0, [1.0, 4.0] * 4)
    assert has_grown(2.0, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7])
    assert not has_grown(1.1, [1 + n / 100 for n in range(8)])
    assert not has_grown(2.0, [1.0, 1.1, 1.2, 1.0, 1.4, 1.5, 1.6, 1.7])
