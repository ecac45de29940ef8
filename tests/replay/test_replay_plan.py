"""Which entries a replay needs, and when it refuses."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.errors import ReplayRefused
from debugtracer.replay.replay_plan import leaves, make_plan, needed
from tests.replay.taping import a_tape, backward, call


def test_a_metric_computed_aside_is_not_needed():
    tape, model = a_tape(), nn.Linear(2, 1)
    out, _ = call(tape, model, torch.ones(3, 2), kind="module")
    loss, _ = call(tape, torch.mean, out)
    call(tape, torch.std, out)
    backward(tape, loss)
    assert needed(tape.current) == {0, 1, 3}


def test_a_leaf_changed_in_place_after_its_use_is_refused_by_its_shape():
    tape, model, x = a_tape(), nn.Linear(2, 1), torch.ones(3, 2)
    call(tape, model, x, kind="module")
    x.add_(1)
    with pytest.raises(ReplayRefused, match=r"shape \(3, 2\) was changed in place after the step used it"):
        make_plan(tape.current, None, False)


def test_a_changed_leaf_that_only_a_metric_used_is_no_reason_to_refuse():
    tape, model, aside = a_tape(), nn.Linear(2, 1), torch.ones(3)
    call(tape, model, torch.ones(3, 2), kind="module")
    call(tape, torch.mean, aside)
    aside.add_(1)
    assert len(make_plan(tape.current, None, False).entries) == 2


def test_a_changed_leaf_with_a_copy_is_replayed():
    tape, model, x = a_tape(), nn.Linear(2, 1), torch.ones(3, 2)
    call(tape, model, x, kind="module")
    assert tape.save_before_write(x)
    x.add_(1)
    assert [leaf.saved.tolist() for leaf in leaves(make_plan(tape.current, None, False).segments[0])] == [
        [[1.0, 1.0]] * 3
    ]


def test_an_empty_segment_and_a_refused_one_say_why():
    tape = a_tape()
    with pytest.raises(ReplayRefused, match="nothing of this step was recorded"):
        make_plan(tape.current, None, False)
    tape.current.refused = "too long"
    with pytest.raises(ReplayRefused, match="too long"):
        make_plan(tape.current, None, False)


def test_a_graph_nobody_recorded_is_refused():
    tape, model = a_tape(), nn.Linear(2, 1)
    call(tape, model, torch.ones(3, 2, requires_grad=True) * 2, kind="module")
    with pytest.raises(ReplayRefused, match="a call that the tape cannot see"):
        make_plan(tape.current, None, False)


def reused_fake(updated: bool):
    tape, generator, critic = a_tape(), nn.Linear(2, 2), nn.Linear(2, 1)
    fake, _ = call(tape, generator, torch.ones(3, 2), kind="module")
    call(tape, critic, fake.detach(), kind="module")
    optimizer = torch.optim.SGD((generator if updated else critic).parameters(), lr=0.1)
    tape.close(tape.open("step", None, (optimizer,), {}), None)
    tape.boundary(1, 1)
    call(tape, critic, fake, kind="module")
    return tape


def test_a_graph_of_the_segment_before_brings_only_the_entries_that_made_it():
    tape = reused_fake(updated=False)
    plan = make_plan(tape.current, tape.previous, False)
    assert [[e.index for e in s.entries] for s in plan.segments] == [[0], [0]]


def test_a_graph_whose_parameters_were_updated_since_needs_their_copies():
    tape = reused_fake(updated=True)
    with pytest.raises(ReplayRefused, match="before the last update"):
        make_plan(tape.current, tape.previous, False)
    assert len(make_plan(tape.current, tape.previous, True).segments) == 2


def test_data_parallel_on_several_gpus_is_refused_and_on_none_is_replayed():
    tape, model = a_tape(), nn.DataParallel(nn.Linear(2, 1))
    call(tape, model, torch.ones(3, 2), kind="module")
    assert len(make_plan(tape.current, None, False).entries) == 1
    model.device_ids = [0, 1]  # what the constructor finds where there are two
    with pytest.raises(ReplayRefused, match="DataParallel computes on several GPUs in threads of its own"):
        make_plan(tape.current, None, False)
