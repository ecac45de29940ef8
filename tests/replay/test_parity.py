"""How same a replay was, in words."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.parity import bad, judge, same_bits
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan
from debugtracer.replay.rewind import ReplayedState
from debugtracer.replay.targets import Target

NAN = float("nan")


def said(
    symptom: str, target: torch.Tensor, live_loss: float, again: float | None = None, live_grad: float | None = None
) -> tuple[bool, str]:
    weight = nn.Parameter(torch.ones(()))
    weight.grad = torch.tensor(live_grad) if live_grad is not None else None
    world = ReplayedState([weight], [])
    weight.grad = target
    run = Reexecution(ReplayPlan([Segment(0)]), torch.autograd.backward)
    if again is not None:
        run.losses[0, 0] = torch.tensor(again)
    parity = judge(Alarm(symptom, Segment(0), 0, 0, loss=torch.tensor(live_loss)), run, [Target("t", target)], world)
    return parity.reproduced, parity.phrase


def test_a_finite_replay_did_not_reproduce():
    assert said("nan_loss", torch.tensor(1.0), NAN) == (False, "not reproduced")


def test_the_loss_itself_is_compared_for_a_bad_loss():
    assert said("nan_loss", torch.tensor(NAN), NAN) == (True, "bitwise")
    assert said("nan_loss", torch.tensor(NAN), float("inf")) == (True, "anomaly only")


@pytest.mark.parametrize(
    ("again", "live_grad", "phrase"),
    [(1.0, NAN, "bitwise"), (1.0, 2.0, "loss bitwise, gradients differ"), (1.5, NAN, "anomaly only")],
)
def test_loss_and_gradients_are_compared_for_a_bad_gradient(again, live_grad, phrase):
    assert said("inf_grad", torch.tensor(NAN), 1.0, again, live_grad) == (True, phrase)


def test_bits_are_compared_not_numbers():
    assert same_bits(torch.tensor([NAN]), torch.tensor([NAN]))
    assert not same_bits(torch.tensor(0.0), torch.tensor(-0.0))
    assert not same_bits(torch.ones(2), torch.ones(2, dtype=torch.float64))
    assert same_bits(torch.ones(3, 2).t(), torch.ones(2, 3))
    assert same_bits(None, None) and not same_bits(None, torch.ones(1))


def test_sparse_and_complex_tensors_can_be_bad_and_integers_cannot():
    assert bad(torch.sparse_coo_tensor([[0]], [NAN], (3,), check_invariants=False))
    assert bad(torch.tensor([complex(0, float("inf"))]))
    assert not bad(torch.tensor([2**40]))
