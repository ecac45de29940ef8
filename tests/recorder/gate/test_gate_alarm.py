"""The alarm of a gate carries what a replay needs of its segment."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.gate.gate_alarm import gate_alarm
from tests.recorder.watched import Watched


def test_it_names_the_segment_its_last_backward_and_the_loss() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Watched() as watched:
        for _ in range(2):
            model(torch.randn(2, 3)).mean().backward()
            optimizer.step()
        model(torch.randn(2, 3)).mean().backward()
        alarm = gate_alarm(watched.tape, "inf_grad", optimizer, grad_l2=3.0)
        older = gate_alarm(watched.tape, "inf_grad", optimizer, watched.tape.previous, late="so")
    assert (alarm.segment, alarm.step, alarm.iteration, alarm.grad_l2) == (watched.tape.current, 2, 2, 3.0)
    assert alarm.loss is not None and alarm.previous is watched.tape.previous
    assert (older.step, older.previous, older.late) == (1, None, "so")
