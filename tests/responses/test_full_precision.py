"""A GradScaler that finds no scale: full precision for a while, which is undone where it does not help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.errors import StoppedByTracer
from debugtracer.responses.full_precision_segment import SEGMENT
from debugtracer.trace.events import ActionEffect
from tests.responses.loops import actions
from tests.watching import events, incidents, under_watch

Weigh = Callable[[int, Tensor], Tensor]


def train(steps: int, weigh: Weigh, autocast: bool = True) -> tuple[list[torch.dtype], torch.amp.GradScaler]:
    """The dtype that each step was computed in, and the scaler; gradients are clipped: large ones do no harm."""
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    made = torch.Generator().manual_seed(2)
    seen = []
    for step in range(steps):
        x = torch.randn(8, 4, generator=made)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16, enabled=autocast):
            out = model(x)
        seen.append(out.dtype)
        loss = weigh(step, nn.functional.cross_entropy(out.float(), x.argmax(1).clamp(max=2)))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return seen, scaler


def large(first: int, last: int) -> Weigh:
    return lambda step, loss: loss * (1e10 if first <= step < last else 1.0)


def test_what_half_precision_cannot_hold_is_trained_in_full_precision_for_a_while(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"):
        seen, scaler = train(110, large(20, 40))
    (done,) = actions(tmp_path)
    assert (done.action, done.step) == ("full-precision", 24)
    assert "left 5 updates in a row out, and no lower scale helps" in done.reason
    full = [step for step, dtype in enumerate(seen) if dtype is torch.float32]
    assert full == list(range(25, 25 + SEGMENT))
    assert scaler.get_scale() == 1024.0 / 2**5
    (effect,) = (event for event in events(tmp_path) if isinstance(event, ActionEffect))
    assert effect.helped and effect.bad == 0
    assert len(incidents(tmp_path)) == 1


def nothing(step: int, loss: Tensor) -> Tensor:
    return loss + torch.sqrt((loss - loss).square())  # an infinite derivative, in any precision


def test_it_is_undone_where_it_does_not_help_and_the_run_ends(tmp_path: Path) -> None:
    entered = torch.autocast.__enter__
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        train(60, nothing)
    done = actions(tmp_path)
    assert [(a.action, a.step) for a in done] == [("full-precision", 4), ("undo", 9), ("stop", 9)]
    assert "full precision has not helped for 5 steps" in done[1].reason
    assert "full-precision had not helped at step 9 and was undone" in done[2].reason
    assert torch.autocast.__enter__ is entered


@pytest.mark.parametrize(("mode", "autocast"), [("val", True), ("prod", False)])
def test_without_it_a_scaler_that_fails_for_ever_ends_with_a_stop(tmp_path: Path, mode: str, autocast: bool) -> None:
    with under_watch(tmp_path, mode), pytest.raises(StoppedByTracer):
        train(60, nothing, autocast)
    assert [(a.action, a.step) for a in actions(tmp_path)] == [("stop", 9)]


def test_a_search_for_the_scale_is_left_to_the_scaler(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"):
        seen, scaler = train(30, lambda step, loss: loss * 3e3)
    assert scaler.get_scale() < 1024.0 / 2**5, "no search: the test says nothing"
    assert actions(tmp_path) == [] and torch.float32 not in seen


def test_watching_that_ends_gives_autocast_back(tmp_path: Path) -> None:
    entered = torch.autocast.__enter__
    with under_watch(tmp_path, "prod"):
        train(30, large(20, 40))
        assert torch.autocast.__enter__ is not entered
    assert torch.autocast.__enter__ is entered
