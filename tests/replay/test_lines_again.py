"""The lines of the function in flight, where nothing of the step was recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.incident import IncidentFacts
from tests.watching import only, under_watch

Loss = Callable[[Tensor, Tensor], Tensor]


def incident(out: Path, step: Callable[[nn.Module, Tensor], None], last: Tensor) -> IncidentFacts:
    """80 steps, of which nothing is recorded at the end, and a last one."""
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with under_watch(out, cost=1e-9) as session:
        session.governor.balance_s = -1.0  # all rests from the 50th step on
        for number in range(81):
            optimizer.zero_grad()
            step(model, last if number == 80 else torch.randn(4, 3))
            optimizer.step()
    return only(out).facts


def normalised(model: nn.Module, x: Tensor) -> None:
    a = x.sum(1)
    a = (a - a.mean()) / (a.std() + 1e-8)
    loss = (model(x).squeeze(1) * a).mean()
    loss.backward()


def test_a_variable_that_is_overwritten_is_gone_back_to(tmp_path: Path):
    facts = incident(tmp_path, normalised, torch.ones(1, 3))
    assert facts.replay is not None and facts.birth is not None
    assert (facts.replay.mechanism, facts.replay.reproduced, facts.birth.op) == ("lines", True, "aten::std")
    assert facts.birth.frame is not None and "a.std()" in facts.birth.frame.code
    assert [r.partition(":")[0] for r in facts.replay.refused] == ["tape", "forward-only"]
    verdict = only(tmp_path).verdict
    assert verdict is not None and verdict.kind == "norm_degenerate_batch"


def divided(model: nn.Module, x: Tensor) -> None:
    y = model(x)
    scale = x.abs().amax(1, keepdim=True)
    weighted = x / scale
    loss = (y * weighted).pow(2).mean()
    loss.backward()


def test_the_first_bad_line_is_named_and_not_what_is_made_of_it(tmp_path: Path):
    facts = incident(tmp_path, divided, torch.zeros(4, 3))
    assert facts.birth is not None and facts.birth.frame is not None
    assert (facts.birth.op, facts.birth.frame.code) == ("aten::div", "weighted = x / scale")


def policy_step(model: nn.Module, x: Tensor, *, gains: Tensor, clip: float) -> None:
    gains = (gains - gains.mean()) / gains.std()
    loss = -(model(x).squeeze(1) * gains.clamp(-clip, clip)).mean()
    loss.backward()


def handed_in(model: nn.Module, x: Tensor) -> None:
    rewards = x.sum(1)
    policy_step(model, x[:], gains=rewards[0:9], clip=5.0)


def test_an_argument_that_is_overwritten_is_taken_from_the_caller(tmp_path: Path):
    facts = incident(tmp_path, handed_in, torch.ones(1, 3))
    assert facts.birth is not None and facts.birth.frame is not None
    assert (facts.birth.op, facts.birth.frame.function) == ("aten::std", "policy_step")
    verdict = only(tmp_path).verdict
    assert verdict is not None and verdict.kind == "norm_degenerate_batch"


def hidden(model: nn.Module, x: Tensor) -> None:
    loss = made_elsewhere(model(x), x)
    loss.backward()


def made_elsewhere(y: Tensor, x: Tensor) -> Tensor:
    return (y / x.sum()).mean()


def masked(model: nn.Module, x: Tensor) -> None:
    mask = torch.full((4, 4), float("-inf")).triu(1)
    scores = (x @ x.T + mask).softmax(1)
    loss = (model(x) * scores.sum() / x.sum()).mean()
    loss.backward()


@pytest.mark.parametrize("step", [hidden])
def test_a_call_of_the_program_is_not_made_again(tmp_path: Path, step: Callable[[nn.Module, Tensor], None]):
    facts = incident(tmp_path, step, torch.zeros(4, 3))
    assert facts.replay is not None and facts.birth is None
    assert facts.replay.refused[-2].startswith("lines: line ")
    assert facts.replay.refused[-1].startswith("graph: no call")


def made_in_two(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 2, x.sum(1, keepdim=True).log()


def unpacked(model: nn.Module, x: Tensor) -> None:
    with torch.no_grad():
        far, score = made_in_two(x.abs())
        wanted = far.sum(1, keepdim=True) - score
    loss = (model(x) - wanted).pow(2).mean()
    loss.backward()


def test_a_name_unpacked_from_a_call_is_named_as_the_first_that_is_bad(tmp_path: Path):
    facts = incident(tmp_path, unpacked, torch.tensor([[0.0] * 3, [1.0] * 3, [2.0] * 3, [3.0] * 3]))
    assert facts.replay is not None and facts.birth is None
    (told,) = [r for r in facts.replay.refused if r.startswith("lines: ")]
    assert told.startswith("lines: score of line ")
    assert told.endswith(" holds 1 of 4 values that are not finite, and a call of the program is not made again")


def test_a_mask_is_no_bad_value(tmp_path: Path):
    facts = incident(tmp_path, masked, torch.zeros(4, 3))
    assert facts.replay is not None
    assert facts.birth is None or "mask" not in (facts.birth.frame.code if facts.birth.frame else "")
