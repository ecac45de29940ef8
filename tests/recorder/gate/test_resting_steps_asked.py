"""What a step at rest asks of a loss, of the gradients, of who answers incidents, and of the gate."""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate import resting_steps as module
from debugtracer.recorder.gate.resting_steps import RestingSteps
from debugtracer.recorder.gate.step_call import left_out
from debugtracer.recorder.listeners import NoPolicy, SegmentListener
from debugtracer.recorder.run_state import RunState

# the limits as they are promised
LONGEST_S, MOST = 1.0, 256


class Skips(NoPolicy):
    """Skips the step or the write, or holds the update back."""

    def __init__(self, step=False, write=False, holds=False) -> None:
        self.step, self.write, self.held = step, write, holds

    def skip_step(self):
        return self.step

    def skip_write(self):
        return self.write

    def holds(self, optimizer, obstacle=""):
        return self.held


class Segments(SegmentListener):
    """Hears of nothing."""


def resting(policy=None, norm=1.0, bad=False, waiting=False, sharded=False, changed=None, gate="auto"):
    """Steps at rest over a gate that keeps what is asked of it."""
    told = []
    state = RunState()
    state.roots.sharded, state.health.bad = sharded, bad
    before = lambda optimizer, weights: told.append(("before", weights)) or contextlib.nullcontext()  # noqa: E731
    health = SimpleNamespace(gate=gate, gradient_norm=SimpleNamespace(read=lambda of: norm), before=before)
    tape = SimpleNamespace(renew=lambda *at: None, current=SimpleNamespace(losses=[], backwards=[], entries=[]))
    asked = SimpleNamespace(
        recorder=SimpleNamespace(tape=tape, guarded=lambda work: work()),
        state=state,
        health_gate=health,
        policy=policy or NoPolicy(),
        segments=Segments(),
        events=SimpleNamespace(
            step_closed=lambda optimizer: told.append("closed"),
            optimizer_changed=(changed if changed is not None else []).append,
        ),
        last_s=0.0,
        time_step=lambda: told.append("timed"),
        count_step=lambda optimizer: told.append("counted"),
        judge_closure=lambda optimizer: told.append("judged"),
    )
    numbers = SimpleNamespace(waiting=lambda: waiting)
    steps = RestingSteps(asked, numbers, SimpleNamespace(step_done=lambda: None))
    steps.publish = lambda: told.append("published")
    return steps, told


def an_optimizer(device="cpu"):
    return torch.optim.SGD([nn.Parameter(torch.ones(1, device=device))], lr=0.1)


def step(steps, optimizer=None, tells=False):
    """What the step gives, and the function that gave it."""
    ran = []

    def original(of, *args, **kwargs):
        ran.append(of)
        return "output"

    return steps.step(optimizer or an_optimizer(), original, (), {}, tells), len(ran)


@pytest.mark.parametrize(
    ("loss", "kept"),
    [
        (torch.tensor(2.0), (2.0, torch.float32)),
        (torch.tensor(2.0, dtype=torch.float64), (2.0, torch.float64)),
        (torch.tensor([2.0]), torch.Tensor),
        (torch.tensor([1.0, 2.0]), torch.Tensor),
        (torch.tensor(2), torch.Tensor),
        (torch.ones((), device="meta"), torch.Tensor),
        (nn.Parameter(torch.tensor(2.0)), torch.Tensor),
    ],
)
def test_a_loss_is_kept_as_a_number_where_that_costs_nothing(loss, kept):
    steps, _ = resting()
    assert steps.take_loss(loss) is True and steps.state.iteration == 1
    (found,) = steps.losses
    assert found == kept if isinstance(kept, tuple) else isinstance(found, kept)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_nothing_is_kept_of_a_loss_that_is_not_finite(value, shape):
    steps, _ = resting()
    assert steps.take_loss(torch.full(shape, value)) is False
    assert steps.losses == [] and steps.state.iteration == 0


def test_a_good_step_runs_at_once():
    steps, told = resting()
    assert step(steps) == ("output", 1) and told == [] and steps.state.step == 1


def test_a_step_that_waits_for_its_batch_is_skipped():
    assert step(resting(Skips(step=True))[0]) == (None, 0)
    assert step(resting(Skips(step=False))[0]) == ("output", 1)
    unasked, _ = resting(NoPolicy())
    assert unasked.skips is False


@pytest.mark.parametrize("why", ["norm", "device", "shards", "gate", "nothing to train", "an open incident"])
def test_the_gate_decides_where_the_gradients_are_not_read_here(why):
    steps, told = resting(
        norm=math.inf if why == "norm" else 1.0, sharded=why == "shards", gate="late" if why == "gate" else "auto"
    )
    optimizer = an_optimizer("meta" if why == "device" else "cpu")
    if why == "nothing to train":
        optimizer.param_groups[0]["params"] = []
    steps.state.quiet_until_healthy = why == "an open incident"
    assert step(steps, optimizer, tells=True) == ("output", 1)
    assert told == ["published", ("before", False), "closed", "timed", "counted"]


def test_an_update_that_the_gate_finds_bad_is_held_back_where_somebody_does():
    for bad, holds, output in ((True, True, None), (True, False, "output"), (False, True, "output")):
        steps, told = resting(Skips(holds=holds), norm=math.inf, bad=bad)
        found, ran = step(steps)
        assert (found, ran) == (output if output else left_out(None), 1 if output else 0)
        assert told[-1] == "counted" and "closed" not in told
    steps, told = resting(Skips(write=True), norm=math.inf)
    assert step(steps) == (None, 0) and "counted" not in told


def test_gradients_that_rest_are_read_every_few_steps():
    steps, _ = resting(norm=math.inf)
    steps.to_leave_out = 1
    assert step(steps) == ("output", 1) and steps.to_leave_out == 0 and steps.rows[0].grad_l2 is None
    read, _ = resting(norm=2.0)
    read.leaves_out = 6
    step(read)
    assert read.to_leave_out == 6 and read.rows[0].grad_l2 == 2.0


def closures(steps, calls=1, tells=False):
    def original(optimizer, closure):
        for _ in range(calls):
            closure()
        return "output"

    return steps.with_closures(an_optimizer(), original, lambda: "loss", (lambda: None,), {}, tells)


def test_a_step_with_closures_counts_by_itself_where_its_last_call_was_good():
    steps, told = resting()
    assert closures(steps, 2) == "output" and told == [] and steps.state.step == 1
    assert closures(resting(Skips(step=True))[0]) is None
    assert closures(resting(Skips(step=False))[0]) == "output"


@pytest.mark.parametrize("why", ["norm", "woken", "an open incident"])
@pytest.mark.parametrize("tells", [True, False])
def test_a_call_of_the_loss_that_is_not_read_here_is_judged_by_the_gate(why, tells):
    steps, told = resting(norm=math.nan if why == "norm" else 1.0)
    steps.woken, steps.state.quiet_until_healthy = why == "woken", why == "an open incident"
    assert closures(steps, tells=tells) == "output"
    closed = ["closed"] if tells or why == "woken" else []
    assert told == ["published", "judged", "published", *closed, "timed", "counted"]


def test_modes_of_the_program_see_nothing_of_ours(monkeypatch):
    for name in ("functions", "dispatches"):
        steps, _ = resting()
        with monkeypatch.context() as patched:
            patched.setattr(module, name, lambda: True)
            assert steps.good_norm(an_optimizer()) is None
        assert steps.good_norm(an_optimizer()) == 1.0


def test_a_norm_that_cannot_be_read_is_left_to_the_gate(monkeypatch):
    def fails(of):
        raise ValueError

    swallowed = []
    monkeypatch.setattr(module, "swallow", lambda *told: swallowed.append(told[0]))
    steps, _ = resting()
    steps.health_gate.gradient_norm.read = fails
    assert steps.good_norm(an_optimizer()) is None and swallowed == ["recorder.gate.resting_steps"]


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize(
    ("rows", "now", "waiting", "published"),
    [(1, 99.0, False, False), (2, 10.0, False, False), (2, 10.1, False, True), (MOST, 0.0, False, True),
     (MOST - 1, 0.0, False, False), (2, 0.0, True, True)],
)  # fmt: skip
def test_numbers_are_published_when_they_are_many_old_or_wanted(rows, now, waiting, published, by_hand, monkeypatch):
    steps, told = resting(waiting=waiting)
    steps.rows, steps.due_s = [None] * (rows - 1), 10.0
    monkeypatch.setattr(module, "perf_counter", lambda: now)
    if by_hand:
        steps.close(SimpleNamespace(grad_l2=1.0), now)
    else:
        steps.ended(an_optimizer(), 1.0, False)
    assert (told == ["published"]) is published and steps.due_s == (now + LONGEST_S if rows == 1 else 10.0)
    assert len(steps.rows) == rows


def test_another_optimizer_than_the_last_is_told_of():
    first, other, changed = an_optimizer(), an_optimizer(), []
    steps, _ = resting(changed=changed)
    steps.state.iteration = 7
    for optimizer in (first, first, other, other, first):
        step(steps, optimizer)
    assert changed == [first, other, first] and steps.state.stepped_at == 7
