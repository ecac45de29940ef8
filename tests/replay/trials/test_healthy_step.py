"""What the last healthy step is compared by: its inputs and its forward."""

import torch

from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.trials.healthy_step import counterparts, probe_of


def a_step(number, batch):
    """model(batch) -> loss, then a backward."""
    segment = Segment(number)
    for entry in (
        Entry("fn", torch.neg, (Leaf(batch),), {}, ()),
        Entry("fn", torch.sum, (Slot(number, 0, 0),), {}, ()),
        Entry("backward", None, ([],), {}, ()),
    ):
        entry.segment, entry.index, entry.outputs = number, len(segment.entries), 1
        segment.entries.append(entry)
    segment.backwards.append(2)
    segment.losses.append((torch.tensor(1.0), Slot(number, 1, 0)))
    return segment


def test_each_input_has_its_counterpart_in_the_step_before():
    before, now = a_step(0, torch.ones(2)), a_step(1, torch.zeros(2))
    leaf = now.entries[0].args[0]
    assert counterparts(now, before)[id(leaf)].tolist() == [1.0, 1.0]
    assert counterparts(now, None) == {}


def test_steps_that_are_called_otherwise_have_none():
    before, now = a_step(0, torch.ones(2)), a_step(1, torch.zeros(2))
    before.entries[0].function = torch.abs
    assert counterparts(now, before) == {}


def test_the_probe_is_the_forward_of_the_last_step_up_to_its_loss():
    found = probe_of(a_step(4, torch.ones(3)))
    assert found is not None
    plan, slot = found
    assert [e.index for e in plan.entries] == [0, 1]
    assert (slot.segment, slot.entry) == (4, 1)


def test_a_step_whose_batch_was_overwritten_is_no_probe():
    batch = torch.ones(3)
    step = a_step(4, batch)
    batch.add_(1.0)
    assert probe_of(step) is None
    assert probe_of(None) is None
