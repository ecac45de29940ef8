"""Between two steps of a real loop: the ring gets the tape of the step that ended, and a switched-off ring says why."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.events import Noted
from tests.watching import batches, events, train, under_watch


def test_the_ring_holds_the_steps_with_the_state_their_roots_began_with(tmp_path):
    with under_watch(tmp_path) as watching:
        # the machine of a test has no say in how often
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        train(nn.Linear(4, 4), batches(4))
        assert [tape.first_step for tape in watching.ring.tapes] == [0, 1, 2, 3]
        assert watching.ring.tapes[-1] is watching.tape.previous
        closed = [snapshot for snapshot in watching.ring.held if snapshot.number < watching.tape.current.number]
        assert [len(snapshot.roots) for snapshot in closed] == [1] * len(closed) != []


def test_a_ring_that_is_too_small_is_noted_once(tmp_path):
    with under_watch(tmp_path, ring_bytes=1) as watching:
        train(nn.Linear(4, 4), batches(4))
        assert not watching.ring.held
    (note,) = [e.text for e in events(tmp_path) if isinstance(e, Noted) and e.what == "ring-off"]
    assert note.endswith("more than ring_bytes (1)")


def test_a_loss_that_stood_out_is_pinned_when_its_segment_is_closed(tmp_path):
    with under_watch(tmp_path) as watching:
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        jumps = watching.incidents.findings.jumps
        optimizer = torch.optim.SGD((model := nn.Linear(4, 1)).parameters(), lr=0.0)
        for step in range(20):
            model(torch.ones(2, 4) * (100.0 if step == 18 else 1.0)).pow(2).mean().backward()
            optimizer.step()
            assert jumps.to_pin is None
        assert list(jumps.stood_out) == [18]
        assert watching.ring.pinned is not None
        assert watching.ring.pinned.segments[-1].first_step == 18
