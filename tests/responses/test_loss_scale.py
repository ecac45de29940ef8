"""A loss scale that is far too high is lowered at once where its own search would lose hundreds of batches."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.responses.budget import Budget
from debugtracer.responses.held_scale import START
from debugtracer.responses.loss_scale import LossScale
from debugtracer.responses.responder import SEARCHED
from tests.responses.loops import actions
from tests.responses.steps import a_bad_step
from tests.watching import same_bits, under_watch


def train(
    steps: int = 60, init_scale: float = 2.0**40, backoff: float = 0.98
) -> tuple[list[float], list[torch.Tensor]]:
    """The scales after each step, and the weights in the end."""
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, backoff_factor=backoff)
    made = torch.Generator().manual_seed(2)
    scales = []
    for _ in range(60):
        x = torch.randn(8, 4, generator=made)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x), x.argmax(1).clamp(max=2))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return scales, [p.detach().clone() for p in model.parameters()]


def test_a_long_search_is_ended(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"):
        scales, _ = train()
    (done,) = actions(tmp_path)
    assert (done.action, done.step) == ("loss-scale", SEARCHED - 1)
    assert "left 20 updates in a row out" in done.reason and f"to {START * 0.98:.3g}" in done.reason
    assert scales[SEARCHED - 1] == pytest.approx(START * 0.98) and scales[-1] == scales[SEARCHED - 1]


@pytest.mark.parametrize("mode", ["observe", "val"])
def test_other_modes_leave_it_alone(tmp_path: Path, mode: str) -> None:
    bare = train()
    with under_watch(tmp_path, mode):
        watched = train()
    assert actions(tmp_path) == [] and watched[0] == bare[0]


def test_a_search_of_the_usual_length_is_no_fault(tmp_path: Path) -> None:
    bare = train(init_scale=2.0**32, backoff=0.5)  # sixteen halvings
    with under_watch(tmp_path, "prod"):
        watched = train(init_scale=2.0**32, backoff=0.5)
    assert actions(tmp_path) == [] and watched[0] == bare[0]
    assert all(same_bits(a, b) for a, b in zip(watched[1], bare[1], strict=True))


def test_no_other_response_answers_a_search() -> None:
    from debugtracer.responses.response import responses

    bad = a_bad_step(overflows=SEARCHED)
    assert bad.is_bad and [slug for slug, one in responses().items() if one.answers(bad)] == ["loss-scale"]


def test_it_is_refused_where_another_optimizer_lives(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bare = train()
    with under_watch(tmp_path, "prod"):
        other = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)
        watched = train()
    assert other.param_groups and actions(tmp_path) == [] and watched[0] == bare[0]
    assert "more than one optimizer is alive" in capfd.readouterr().err


def test_it_is_refused_at_a_scale_of_1(tmp_path: Path) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(torch.ones(1))
    with under_watch(tmp_path, "prod") as session:
        assert session.responder is not None
        gc.collect()  # optimizers of other tests
        why = LossScale().refuses(a_bad_step(scaler=scaler), Budget(), session.responder.training)
    assert "its scale is 1 already" in why
