"""Which microbatch and which rows a birth belongs to."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.step_tape import Tape
from debugtracer.replay.guilty import GuiltyBatch, by_hand, guilty_batch
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan
from tests.replay.taping import a_tape, backward, call


def two_microbatches(prepare: bool = False) -> Tape:
    tape, model = a_tape(), nn.Linear(2, 1)
    for rows in (3, 5):
        x = torch.ones(rows, 2)
        given = call(tape, torch.mul, x, 2.0)[0] if prepare else x
        out, _ = call(tape, model, given, kind="module")
        backward(tape, call(tape, torch.mean, out)[0])
    return tape


def guilty(tape: Tape, entry: int | None, microbatch: int = 0) -> GuiltyBatch:
    run = Reexecution(ReplayPlan([tape.current]), torch.autograd.backward)
    run.run()
    return guilty_batch(
        Alarm("inf_grad", tape.current, 0, 0, microbatch=microbatch), run.plan, BatchLog(), entry, run.values
    )


def test_an_entry_belongs_to_the_backward_that_follows_it():
    tape = two_microbatches()
    found = [guilty(tape, entry) for entry in range(6)]
    assert [(g.microbatch, g.rows) for g in found] == [(0, 3)] * 3 + [(1, 5)] * 3


def test_without_an_entry_the_alarm_tells_the_microbatch():
    assert [guilty(two_microbatches(), None, m).rows for m in (0, 1)] == [3, 5]


def test_rows_of_inputs_that_the_loop_computed_are_known():
    tape = two_microbatches(prepare=True)
    assert [guilty(tape, entry).rows for entry in (0, 1, 4, 5)] == [3, 3, 5, 5]


def test_inputs_are_named_by_their_place_and_parameters_are_none():
    tape, weight = a_tape(), nn.Parameter(torch.ones(2, 2))
    call(tape, nn.Bilinear(2, 2, 1), torch.ones(4, 2), weight.repeat(2, 1), kind="module")
    assert [(name, tuple(t.shape)) for name, t in guilty(tape, 0).leaves] == [("input[0]", (4, 2))]


def test_a_step_without_a_module_has_no_rows():
    tape = a_tape()
    call(tape, torch.mean, torch.ones(4))
    assert (guilty(tape, 0).rows, guilty(tape, 0).leaves) == (None, [])


def test_what_comes_after_the_last_backward_writes_gradients_by_hand():
    segment = two_microbatches().current
    last = max(segment.backwards)
    alarm = Alarm("inf_grad", segment, 0, 0)
    assert by_hand(alarm, last + 1)
    assert not (by_hand(alarm, last) or by_hand(alarm, last - 1) or by_hand(alarm, None))
    assert not by_hand(Alarm("nan_loss", segment, 0, 0), last + 1)  # the forward of another microbatch
