from __future__ import annotations

import torch

from debugtracer.recorder.capsule.program import Program
from tests.recorder.steps import Trace, recorded


def test_the_generator_state_is_stored_only_when_something_moved_it() -> None:
    program = Program()
    with Trace(program):
        torch.rand(3)
        torch.rand(3)
        torch.manual_seed(4)
        torch.rand(3)
    assert [len(row.states) for row in program.recorded.ops] == [1, 0, 1]


def test_checkpointing_resets_the_generator_and_that_is_stored() -> None:
    states = [len(row.states) for row in recorded("checkpointed").recorded.ops if row.states]
    assert len(states) >= 4  # at the start, and at each of three recomputes


def test_a_generator_of_the_users_own_has_its_own_state() -> None:
    program, mine = Program(), torch.Generator().manual_seed(3)
    with Trace(program):
        torch.rand(2)
        torch.rand(2, generator=mine)
    assert [row.own for row in program.finish().generators] == [False, True]
