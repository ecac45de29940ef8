"""The graph of a bad loss, where nothing of the step was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.utils.checkpoint import checkpoint

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.graph_again import birth_in_graph, reached, read_by
from debugtracer.replay.graph_line import kind_of
from tests.replay.test_lines_again import incident
from tests.watching import only


class Turner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bound = torch.tensor(2.0)

    def drawn(self, mean: Tensor, wide: Tensor) -> tuple[Tensor, Tensor]:
        normal = Normal(mean, wide.exp())
        raw = normal.rsample()
        turn = torch.tanh(raw)
        score = normal.log_prob(raw)
        score -= torch.log(self.bound * (1 - turn.pow(2)))
        return turn * self.bound, score.sum(1, keepdim=True)


turner = Turner()


def drawn_and_scored(model: nn.Module, x: Tensor) -> None:
    wide = x.detach()[:, :1] * 0
    turn, score = turner.drawn(model(x), wide)
    loss = (0.1 * score - torch.min(turn, -turn)).mean()
    loss.backward()


def test_a_call_that_draws_is_told_from_what_its_graph_has_kept(tmp_path: Path):
    facts = incident(tmp_path, drawn_and_scored, torch.tensor([[400.0] * 3, [0.1] * 3, [-0.2] * 3, [0.3] * 3]))
    assert facts.replay is not None and facts.birth is not None
    assert (facts.replay.mechanism, facts.replay.reproduced, facts.birth.op) == ("graph", True, "aten::log")
    assert [frame.code for frame in facts.birth.frames] == [
        "score -= torch.log(self.bound * (1 - turn.pow(2)))",
        "turn, score = turner.drawn(model(x), wide)",
    ]
    assert facts.birth.inputs[0].low == 0.0 and facts.birth.rows is None
    assert [r.partition(":")[0] for r in facts.replay.refused] == ["tape", "forward-only", "lines"]
    verdict = only(tmp_path).verdict
    assert verdict is not None and verdict.kind == "log_domain"


def alarm(loss: Tensor) -> Alarm:
    return Alarm(symptom="nan_loss", segment=Segment(0), iteration=0, step=0, loss=loss)


def scored(p: Tensor) -> Tensor:
    return torch.log(p * 2)


def test_what_is_left_out_of_the_loss_is_not_blamed():
    x = torch.zeros(3, requires_grad=True)
    chosen = torch.where(x > 0, torch.log(x), x)
    loss = (chosen + (x - 1).sqrt()).sum()
    with pytest.raises(ReplayRefused, match="no call"):
        birth_in_graph(alarm(loss))


def test_a_divisor_that_is_infinite_is_not_blamed():
    x = torch.zeros(3, requires_grad=True)
    far = torch.log(x)
    loss = (1 / far + (x - 1).sqrt()).sum()
    with pytest.raises(ReplayRefused, match="no call"):
        birth_in_graph(alarm(loss))


def test_a_checkpoint_is_not_run_again():
    ran = []

    def part(p: Tensor) -> Tensor:
        ran.append(1)
        return scored(p)

    x = torch.zeros(3, requires_grad=True)
    made = checkpoint(part, x, use_reentrant=False)
    loss = made.sum()
    with pytest.raises(ReplayRefused, match="no call"):
        birth_in_graph(alarm(loss))
    assert len(ran) == 1


def test_a_tensor_written_since_or_freed_is_not_read():
    x = torch.ones(3, requires_grad=True)
    read = x * 2
    loss = torch.log(read).sum()
    read.mul_(3)
    (log,) = [node for node in reached(loss.grad_fn) if kind_of(node) == "Log"]
    assert read_by(log) is None
    loss = torch.log(x * 2).sum()
    (log,) = [node for node in reached(loss.grad_fn) if kind_of(node) == "Log"]
    assert read_by(log) is not None
    loss.backward()
    assert read_by(log) is None


def test_a_single_zero_that_was_computed_is_no_mask():
    x = torch.zeros(1, requires_grad=True)
    loss = scored(x).sum()
    birth = birth_in_graph(alarm(loss))
    assert (birth.op, [(one.name, one.low) for one in birth.inputs]) == ("aten::log", [("self", 0.0)])


def test_a_loss_without_a_graph_has_nothing_to_ask():
    with pytest.raises(ReplayRefused, match="has none"):
        birth_in_graph(alarm(torch.tensor(float("nan"))))


def test_the_first_of_several_is_told():
    x = torch.zeros(3, requires_grad=True)
    first = scored(x)
    later = scored(x) + 0 * first
    loss = (first + later).sum()
    birth = birth_in_graph(alarm(loss))
    assert birth.frame is not None
    assert (birth.op, birth.frame.code) == ("aten::log", "return torch.log(p * 2)")
    assert birth.frames[1].code == "first = scored(x)"
