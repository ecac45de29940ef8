"""A health gate of one optimizer without a loop, that is given the numbers of a step."""

from __future__ import annotations

import math

import torch
from torch import nn

from debugtracer.recorder.gate.pending_read import PendingRead, ReadNumbers
from tests.recorder.watched import Watched

NAN, INF = math.nan, math.inf


class Judging:
    """A gate with one optimizer, whose weights are bad where the test says so."""

    def __init__(self, weights_bad: bool = False, device_numbers=None) -> None:
        self.watched = Watched(device_numbers=device_numbers)
        self.gate, self.state = self.watched.health_gate, self.watched.state
        parameter = nn.Parameter(torch.tensor([NAN if weights_bad else 1.0]))
        self.optimizer = torch.optim.SGD([parameter], lr=0.1)
        self.parameter = parameter
        self.state.quiet_until_healthy = False
        self.watched.tape.current.losses = [(torch.tensor(1.0), None), (torch.tensor(2.0), None)]

    def sent(self, **told) -> PendingRead:
        return PendingRead(self.optimizer, self.watched.tape.current, 7, told.pop("gated", False), **told)

    def judge(self, numbers: ReadNumbers, quiet: bool = False, **told):
        self.state.quiet_until_healthy = quiet
        self.gate.judge(numbers, self.sent(**told))
        return [(alarm.symptom, alarm.step, alarm.written) for alarm in self.watched.alarms]


def numbers(grad_l2=1.0, losses=(), bad=False, param_l2=0.0, scale=None) -> ReadNumbers:
    return ReadNumbers(grad_l2, list(losses), bad, param_l2, scale)


class Late:
    """A reading from a device, as the gate asks for it."""

    def __init__(self, arrives=None) -> None:
        self.arrives, self.measured, self.sends = arrives, [], 0

    def measure(self, sent, gradients, losses):
        self.measured.append(sent)

    def send(self):
        self.sends += 1

    def take(self):
        return self.arrives

    def join(self, rest):
        return self.arrives is not None
