"""What the program still holds of a bad loss is asked in turn."""

from __future__ import annotations

from time import perf_counter

import torch

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.held_values import by_held_values
from debugtracer.replay.investigation import Investigation
from debugtracer.trace.incident import ReplayFacts


def alarm(loss: torch.Tensor) -> Alarm:
    return Alarm(symptom="nan_loss", segment=Segment(0), iteration=0, step=0, loss=loss)


def shown() -> Investigation:
    return Investigation(ReplayFacts(mechanism="forward-only", reproduced=False, parity="not reproduced"))


def scored(p: torch.Tensor) -> torch.Tensor:
    return torch.log(p * 2).sum()


def test_each_says_why_it_did_not_show_it():
    result = shown()
    by_held_values(alarm(torch.tensor(1.0)), result, perf_counter())
    assert result.birth is None and result.replay.mechanism == "forward-only"
    assert [r.partition(":")[0] for r in result.replay.refused] == ["lines", "graph"]


def test_lines_of_the_function_in_flight_come_first():
    result = shown()
    x = torch.tensor([0.0, 0.3], requires_grad=True)
    loss = torch.log(x * 2).sum()
    by_held_values(alarm(loss), result, perf_counter())
    assert (result.replay.mechanism, result.replay.refused) == ("lines", ("forward-only: not reproduced",))


def test_the_graph_is_asked_where_lines_are_of_no_use():
    result = shown()
    x = torch.tensor([0.0, 0.3], requires_grad=True)
    loss = scored(x)
    by_held_values(alarm(loss), result, perf_counter())
    assert (result.replay.mechanism, result.replay.reproduced) == ("graph", True)
    assert [r.partition(":")[0] for r in result.replay.refused] == ["forward-only", "lines"]
    assert result.birth is not None and result.birth.op == "aten::log"
