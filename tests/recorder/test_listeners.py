"""Facts about the roles that the recorder reports to: what stands in them changes nothing when a process is alone, and
a policy holds a step back."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.diagnosis.incidents import Incidents
from debugtracer.diagnosis.segment_end import SegmentEnd
from debugtracer.diagnosis.step_publisher import StepPublisher
from debugtracer.recorder import listeners
from debugtracer.recorder.listeners import NoPolicy, OneRank
from debugtracer.recorder.output.output import Output
from tests.recorder.watched import Watched


def test_one_rank_meets_nobody_and_asks_for_no_alarm() -> None:
    def alarm() -> Any:
        raise AssertionError("no alarm is built")

    ranks = OneRank()
    assert not ranks.meets()
    assert not ranks.together(True, alarm)


def test_without_a_policy_every_step_is_written_and_every_batch_fetched() -> None:
    policy = NoPolicy()
    assert (policy.skip_step(), policy.skip_write(), policy.again(object())) == (False, False, None)
    assert (policy.give_up(), policy.next_fetch(), policy.handed_out(object(), 1)) == (None, None, None)


class Holds(NoPolicy):
    """Holds back what it is told to."""

    def __init__(self, step: bool = False, write: bool = False) -> None:
        self.step, self.write = step, write

    def skip_step(self) -> bool:
        return self.step

    def skip_write(self) -> bool:
        return self.write


@pytest.mark.parametrize("held", [{"step": True}, {"write": True}])
def test_a_policy_holds_the_write_of_a_step_back(held: dict[str, bool]) -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()
    policy = Holds(**held)
    with Watched(policy=policy) as watched:
        model(torch.ones(1, 3)).mean().backward()
        optimizer.step()
        assert torch.equal(model.weight, before)
        assert (watched.state.step, watched.points, watched.closed) == (0, [], 0)
        policy.step = policy.write = False
        optimizer.step()
    assert not torch.equal(model.weight, before)
    assert (watched.state.step, len(watched.points), watched.closed) == (1, 1, 1)


@pytest.mark.parametrize(
    ("role", "part"),
    [
        ("AlarmListener", Incidents),
        ("GateRanks", Incidents),
        ("IncidentPolicy", Incidents),
        ("StepNumbers", StepPublisher),
        ("SegmentListener", SegmentEnd),
        ("RunOpener", Output),
        ("Notes", Output),
    ],
)
def test_the_parts_of_a_session_have_every_method_of_their_role(role: str, part: type) -> None:
    methods = [
        name for name, value in vars(getattr(listeners, role)).items() if callable(value) and not name.startswith("_")
    ]
    assert methods
    assert [name for name in methods if not callable(getattr(part, name, None))] == []
