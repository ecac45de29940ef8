"""What the ring costs: time and bytes, and when it is not worth either."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.recorder.run_state import RunState, parameters
from debugtracer.recorder.state import snapshot_ring
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.held_bytes import device_s
from debugtracer.recorder.state.kept_tape import batch_bytes
from debugtracer.recorder.state.snapshot_ring import (
    EVERY,
    MAX_INTERVAL,
    MAX_ROLLBACK_STEPS,
    SHARE,
    THREADS,
    SnapshotRing,
)
from debugtracer.recorder.state.step_history import Snapshot
from debugtracer.recorder.tape.entry import Leaf
from debugtracer.recorder.tape.step_tape import Segment


def alone(max_bytes: int = 2**30) -> tuple[SnapshotRing, torch.optim.Optimizer]:
    model = nn.Linear(2, 1)
    return SnapshotRing(parameters, lambda: [model], max_bytes), torch.optim.SGD(model.parameters(), lr=0.1)


def test_snapshots_are_as_rare_as_their_cost_asks_for():
    ring, _ = alone()
    assert ring.judge(2e-4, 1e-3) is None
    assert ring.every == EVERY, "what costs next to nothing is always worth it"
    ring, _ = alone()
    assert ring.judge(0.01, 0.1) is None
    assert ring.every == 4 * EVERY >= 0.01 / (SHARE * 0.1), "the next doubling, which is never more than was promised"
    ring.judge(0.01, 0.13)
    ring.judge(0.01, 0.21)
    assert ring.every == 4 * EVERY, "what else the machine does moves no snapshot"
    for _ in range(9):
        ring.judge(0.001, 0.1)
    assert ring.every == EVERY, "a first one that was slow does not count for ever"


def test_the_steps_that_are_kept_do_not_depend_on_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SnapshotRing, "cost", lambda ring, elapsed_s, used: 0.0115)
    kept: dict[float, list[int]] = {}
    for load in (1.0, 1.9, 0.95, 0.4):
        ring, optimizer = alone()
        for step in range(1, 200):
            if ring.is_due(step):
                kept.setdefault(load, []).append(step)
            ring.consider(step, step, [optimizer], 0.1 * (load if step > 1 else 1.0))
    assert kept[1.0] == [1, 33, 65, 97, 129, 161, 193] == kept[1.9] == kept[0.95]
    assert set(kept[0.4]) <= set(kept[1.0]), "one that affords fewer keeps some of the same"


def test_snapshots_that_could_only_be_taken_too_rarely_are_not_taken():
    ring, optimizer = alone()
    ring.consider(0, 0, [optimizer], 1.0)
    answers = [ring.judge(0.1, 0.1) for _ in range(3)]
    every = round(0.1 / (SHARE * 0.1))
    assert every > MAX_INTERVAL
    assert (
        answers[-1]
        == ring.off
        == f"a snapshot takes 100.0 ms, a step 100.0 ms: only every {every}th step could be kept"
    )
    assert not ring.held
    assert ring.consider(1, 1, [optimizer], 1.0) is None


def test_a_ring_to_go_back_to_is_worth_rarer_snapshots():
    """A busy machine makes the snapshots of cheap steps dear; without any, weights that went bad end the run."""
    model = nn.Linear(2, 1)
    ring = SnapshotRing(parameters, lambda: [model], 2**30, loop=RunState())
    dear = (MAX_INTERVAL + 50) * SHARE * 0.1
    assert [ring.judge(dear, 0.1) for _ in range(4)] == [None] * 4
    assert MAX_INTERVAL < ring.every <= MAX_ROLLBACK_STEPS
    for _ in range(7):
        ring.judge(MAX_ROLLBACK_STEPS * SHARE * 0.1 * 1.2, 0.1)
    assert "could be kept" in ring.off


def test_nothing_is_taken_without_parameters_to_take():
    ring, _ = alone()
    assert ring.consider(0, 0, [], 1.0) is None
    assert not ring.held


def test_bytes_of_a_snapshot_are_counted():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    copy = UpdateCopy(optimizer, list(model.parameters()))
    copy.take()
    assert Snapshot(copies=[copy], gradients=[(model.weight, torch.zeros(2))]).nbytes == 3 * 4 + 2 * 4


def test_parameters_count_for_nothing_in_a_tape():
    segment = Segment(0)
    for number, tensor in enumerate((torch.zeros(10), torch.zeros(10), nn.Parameter(torch.zeros(1000)))):
        segment.leaves[number] = Leaf(tensor)
    assert batch_bytes(segment) == 80


def test_the_host_does_not_wait_for_a_copy_on_the_cpu():
    _, optimizer = alone()
    assert device_s([optimizer], parameters) == 0.0


def test_cpu_time_is_asked_only_while_the_clock_calls_snapshots_dear(monkeypatch):
    ring, _ = alone()
    asked = []
    monkeypatch.setattr(snapshot_ring, "thread_time", lambda: asked.append(1) or 1.0)
    assert ring.cost(1e-4, 1.0 - 1e-6) == pytest.approx(THREADS * 1e-6)
    assert (ring.doubtful, len(asked)) == (False, 1)
    assert ring.cost(1e-4, None) == 1e-4
    assert ring.cost(0.1, None) is None, "another program may have had the machine"
    assert ring.doubtful
    assert ring.cost(0.1, 1.0 - 1e-6) == pytest.approx(THREADS * 1e-6)
    assert (ring.doubtful, len(asked)) == (True, 2)
