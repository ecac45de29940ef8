"""The ring of snapshots: reach, pins, budgets, and that it keeps nothing of the user's alive."""

import gc
import weakref

import torch
from torch import nn

from debugtracer.recorder.entry import Entry, Leaf
from debugtracer.recorder.ring import EVERY, MOST_ENTRIES, REACH, SLOTS, Ring, batch_bytes, device_s
from debugtracer.recorder.tape import Segment


def parameters(optimizer):
    return [p for g in optimizer.param_groups for p in g["params"]]


def a_ring(max_bytes=1 << 30, model=None):
    model = model if model is not None else nn.Linear(3, 2)
    return Ring(parameters, lambda: [model], max_bytes), torch.optim.Adam(model.parameters()), model


def a_segment(number, leaves=0):
    segment = Segment(number)
    segment.first_step = number
    for _ in range(leaves):
        leaf = Leaf(torch.zeros(10))
        segment.leaves[id(leaf)] = leaf
    return segment


def steps(ring, optimizer, count, begin=0, step_s=10.0):
    for number in range(begin, begin + count):
        ring.segment(a_segment(number))
        ring.consider(number + 1, number + 1, [optimizer], step_s)


def test_a_snapshot_lies_some_updates_before_a_step():
    ring, optimizer, _ = a_ring()
    steps(ring, optimizer, 3 * EVERY)
    past = ring.past(2 * EVERY + 5)
    assert past is not None
    assert past.steps >= REACH
    assert [s.number for s in past.segments] == list(range(past.snapshot.number, 2 * EVERY + 6))


def test_nothing_is_known_of_a_step_that_is_too_old_or_to_come():
    ring, optimizer, _ = a_ring()
    steps(ring, optimizer, 6 * EVERY)
    assert ring.past(2) is None
    assert ring.past(10_000) is None


def test_the_newest_snapshots_are_held_and_no_more():
    ring, optimizer, _ = a_ring()
    steps(ring, optimizer, 10 * EVERY)
    assert len(ring.held) == SLOTS
    longest = ring.longest()
    assert longest is not None
    assert longest.segments[-1].number == 10 * EVERY - 1


def test_a_pinned_past_outlives_the_ring():
    ring, optimizer, model = a_ring()
    steps(ring, optimizer, 2 * EVERY)
    ring.pin(2 * EVERY - 1)
    assert ring.pinned is not None
    kept = ring.pinned.snapshot.copies[0].values[0].clone()
    with torch.no_grad():
        model.weight.add_(1.0)
    steps(ring, optimizer, 5 * EVERY, begin=2 * EVERY)
    past = ring.take_pinned(2 * EVERY - 1)
    assert past is not None
    assert torch.equal(past.snapshot.copies[0].values[0], kept)
    assert ring.pinned is None


def test_a_snapshot_comes_back_bit_for_bit():
    ring, optimizer, model = a_ring(model=nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    model(torch.randn(8, 3)).sum().backward()
    optimizer.step()
    steps(ring, optimizer, 1)
    before = [t.detach().clone() for t in (*model.parameters(), *model.buffers())]
    moments = [s["exp_avg"].clone() for s in optimizer.state.values()]
    model(torch.randn(8, 3)).sum().backward()
    optimizer.step()
    ring.held[-1].restore()
    assert all(torch.equal(a, b) for a, b in zip(before, (*model.parameters(), *model.buffers()), strict=True))
    assert all(torch.equal(a, s["exp_avg"]) for a, s in zip(moments, optimizer.state.values(), strict=True))


def test_the_budget_of_bytes_switches_it_off_with_a_sentence():
    ring, optimizer, _ = a_ring(max_bytes=10)
    ring.segment(a_segment(0))
    assert ring.consider(1, 1, [optimizer], 1.0) == "3 snapshots of parameters, moments and gradients need about 384 bytes, more than ring_bytes (10)"
    assert not ring.held
    ring.segment(a_segment(1))
    assert not ring.tapes


def test_a_snapshot_that_is_dear_becomes_rare_and_then_ends():
    ring, _, _ = a_ring()
    assert ring.judge(0.01, 1.0) is None
    assert ring.every == EVERY
    assert ring.judge(0.1, 1.0) is None or ring.every > EVERY
    for _ in range(8):
        said = ring.judge(10.0, 1.0)
    assert said is not None
    assert "only every 2500th step could be kept" in said


def test_a_cheap_snapshot_is_never_given_up():
    ring, _, _ = a_ring()
    for _ in range(9):
        assert ring.judge(1e-4, 1e-5) is None
    assert ring.every == EVERY


def test_batches_that_are_large_shorten_the_past(monkeypatch):
    monkeypatch.setattr("debugtracer.recorder.ring.TAPE_BYTES", 100)
    ring, _, _ = a_ring()
    for number in range(5):
        ring.segment(a_segment(number, leaves=1))  # 40 bytes each
    assert [s.number for s in ring.tapes] == [3, 4]


def test_parameters_count_for_nothing_in_a_tape():
    segment = a_segment(0, leaves=2)
    weight = nn.Parameter(torch.zeros(1000))
    segment.leaves[0] = Leaf(weight)
    assert batch_bytes(segment) == 80


def test_a_step_of_thousands_of_calls_is_not_kept():
    ring, _, _ = a_ring()
    segment = a_segment(0)
    segment.entries = [Entry("fn", None, (), {}, ())] * (MOST_ENTRIES + 1)
    ring.segment(segment)
    assert ring.off == f"a step makes more than {MOST_ENTRIES} torch calls outside modules"


def test_no_graph_of_the_users_is_kept_alive():
    """A carried hidden state enters the next step with its graph; two steps later nobody but us would hold it."""
    ring, _, _ = a_ring()
    weight = torch.randn(3, requires_grad=True)
    activation = weight * 2
    carried = activation.pow(2)  # its graph keeps the activation
    alive = weakref.ref(activation)
    del activation
    segment = a_segment(0)
    segment.leaves[0] = Leaf(carried)
    ring.segment(segment)
    assert alive() is not None
    ring.segment(a_segment(1))
    del carried
    gc.collect()
    assert alive() is None


def test_a_fork_starts_from_nothing():
    ring, optimizer, _ = a_ring()
    steps(ring, optimizer, 2 * EVERY)
    ring.pin(2 * EVERY - 1)
    ring.forget()
    assert (list(ring.held), list(ring.tapes), ring.pinned) == ([], [], None)


def test_the_host_does_not_wait_for_a_copy_on_the_cpu():
    _, optimizer, _ = a_ring()
    assert device_s([optimizer], parameters) == 0.0
