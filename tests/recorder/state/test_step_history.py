"""A snapshot gives back what it holds, and a past can be cut at a step of its own."""

import torch
from torch import nn

from debugtracer.recorder.state.buffer_copies import BufferCopies
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.step_history import Snapshot, StepHistory
from debugtracer.recorder.tape.step_tape import Segment


def segment(step):
    """A closed segment without calls."""
    closed = Segment(number=step)
    closed.first_step = step
    return closed


def test_a_past_ends_at_the_step_that_is_asked_for_and_has_two_updates_at_least():
    past = StepHistory(Snapshot(number=3, step=3), [segment(n) for n in range(3, 9)])
    assert past.steps == 5
    cut = past.up_to(6)
    assert cut is not None
    assert cut.snapshot is past.snapshot
    assert [s.first_step for s in cut.segments] == [3, 4, 5, 6]
    assert past.up_to(5) is not None
    assert past.up_to(4) is None, "one update is no past"
    assert past.up_to(9) is None, "a step after it"
    assert past.up_to(2) is None


def test_a_snapshot_puts_weights_gradients_and_buffers_back():
    net = nn.BatchNorm1d(3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    copy = UpdateCopy(optimizer, list(net.parameters()))
    copy.take()
    net.weight.grad = torch.ones(3)
    buffers = BufferCopies()
    buffers.take([net], on_host=False)
    snapshot = Snapshot(copies=[copy], buffers=buffers, gradients=[(net.weight, torch.full((3,), 2.0))])
    net(torch.randn(8, 3)).sum().backward()
    optimizer.step()
    mine = net.weight.grad
    snapshot.restore()
    snapshot.restore_gradients()
    assert torch.equal(net.weight, torch.ones(3))
    assert torch.equal(net.running_mean, torch.zeros(3))
    assert torch.equal(net.weight.grad, torch.full((3,), 2.0))
    assert net.weight.grad is not mine, "the present gradients belong to the program"
    assert snapshot.nbytes == 4 * (6 + 6 + 3) + 8
