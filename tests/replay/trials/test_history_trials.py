"""The last steps executed again: bit for bit when nothing is changed, and as by hand when one thing is."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.interventions.intervention import interventions
from tests.replay.pasts import STEPS, Loop, bits, looked_into, tried
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def noisy() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.3), nn.Linear(6, 1))


def sgd(p: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(p, lr=0.05)


LOOPS = {
    "sgd": lambda: Loop(sgd),
    "momentum": lambda: Loop(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "adam": Loop,
    "adamw fused": lambda: Loop(lambda p: torch.optim.AdamW(p, lr=0.01, fused=True)),
    "adam with a tensor for a rate": lambda: Loop(lambda p: torch.optim.Adam(p, lr=torch.tensor(0.01))),
    "dropout and running statistics": lambda: Loop(net=noisy),
}


@pytest.mark.parametrize("name", LOOPS)
def test_unchanged_steps_give_every_recorded_loss_to_the_bit(tmp_path, name):
    loop = LOOPS[name]()
    with looked_into(tmp_path, loop) as trials:
        score = tried(trials, "unchanged")
        assert score.loss == loop.losses[-1]
        assert trials.reproduced_bits
        assert trials.departs is None
        assert trials.losses == loop.losses[-len(trials.losses) :]
        assert len(trials.losses) == trials.history.steps + 1 >= 5
        assert score.probe_loss is not None


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_is_left_of_the_trials(tmp_path, name):
    loop = LOOPS[name]()
    groups: list[Any] = []
    before: list[torch.Tensor] = []

    def trained() -> None:
        groups.append([dict(g) for g in loop.optimizer.param_groups])
        before.extend(bits(loop))

    loop.over = trained
    with looked_into(tmp_path, loop) as trials:
        for slug in interventions():
            trials.run(interventions()[slug])
        tried(trials, "lower-lr")
        assert not all(map(same_bits, bits(loop), before)), "the trials have changed nothing"
    assert all(map(same_bits, bits(loop), before))
    assert len(bits(loop)) == len(before)
    assert all(a["lr"] is b["lr"] for a, b in zip(loop.optimizer.param_groups, groups[0], strict=True))


def test_gradients_that_are_never_cleared_are_part_of_the_past(tmp_path):
    loop = Loop(sgd)
    loop.clear = lambda: None
    with looked_into(tmp_path, loop) as trials:
        tried(trials, "unchanged")
        assert trials.losses == loop.losses[-len(trials.losses) :]


def test_a_smaller_rate_counts_for_every_update_of_the_way(tmp_path):
    loop = Loop(sgd)
    with looked_into(tmp_path, loop) as trials:
        start = trials.history.segments[0].first_step
        tried(trials, "lower-lr", 4.0)

        def slower(optimizer: torch.optim.Optimizer) -> None:
            optimizer.param_groups[0]["lr"] = 0.05 / 4

        assert trials.losses == loop.by_hand(start, list(range(start, STEPS)), slower)


def test_fresh_moments_are_fresh_before_every_update(tmp_path):
    loop = Loop()
    with looked_into(tmp_path, loop) as trials:
        start = trials.history.segments[0].first_step
        tried(trials, "fresh-moments")
        assert trials.losses == pytest.approx(
            loop.by_hand(start, list(range(start, STEPS)), lambda o: o.state.clear()), rel=1e-6
        )
        assert trials.losses != pytest.approx(loop.losses[start:], rel=1e-6)


def test_older_weights_meet_the_batch_without_the_updates_between(tmp_path):
    loop = Loop(sgd)
    with looked_into(tmp_path, loop) as trials:
        start = trials.history.segments[0].first_step
        score = tried(trials, "older-weights")
        assert score.loss == loop.by_hand(start, [STEPS - 1])[0]
        assert score.probe_loss is None


def test_another_batch_is_that_of_the_step_before(tmp_path):
    loop = Loop(sgd)
    with looked_into(tmp_path, loop) as trials:
        start = trials.history.segments[0].first_step
        score = tried(trials, "other-batch")
        assert score.loss == loop.by_hand(start, [*range(start, STEPS - 1), STEPS - 2])[-1]


def test_the_reverse_order_begins_with_the_failing_batch(tmp_path):
    loop = Loop(sgd)
    with looked_into(tmp_path, loop) as trials:
        start = trials.history.segments[0].first_step
        tried(trials, "reordered-batches")
        assert trials.losses == loop.by_hand(start, list(range(start, STEPS))[::-1])


def test_the_missing_line_clears_gradients_before_each_step(tmp_path):
    loop = Loop(sgd)
    loop.clear = lambda: None
    with looked_into(tmp_path, loop, broken="stale_gradients") as trials:
        start = trials.history.segments[0].first_step
        score = tried(trials, "one-line-fix")
        assert trials.losses == loop.by_hand(start, list(range(start, STEPS)))
        assert score.change == f"gradients cleared at the beginning of each of the last {STEPS - start} steps"


def test_rows_that_stand_out_beside_the_batch_before_are_guilty_and_can_be_left_out(tmp_path):
    loop = Loop(sgd)
    loop.data[-1][1][3], loop.data[-1][1][6] = 80.0, -90.0
    with looked_into(tmp_path, loop, following=True) as trials:
        whole = tried(trials, "unchanged")
        assert trials.guilty_rows == (3, 6)
        assert trials.row_losses is not None
        assert trials.row_losses.mean().item() == pytest.approx(whole.loss, rel=1e-6)
        healed = tried(trials, "without-sample")
        assert healed.loss < whole.loss / 100
        assert healed.change.startswith("rows 3, 6 replaced by row ")


def test_a_batch_whose_every_row_stands_out_has_no_guilty_row(tmp_path):
    loop = Loop(sgd)
    loop.data[-1] = (loop.data[-1][0], loop.data[-1][1] * 0 + 500.0)
    with looked_into(tmp_path, loop, following=True) as trials:
        tried(trials, "unchanged")
        assert trials.guilty_rows is None
        assert trials.whole_batch


def test_moves_are_those_of_one_run_and_the_largest_is_where_the_rate_rose(tmp_path):
    loop = Loop(sgd)
    loop.at[STEPS - 2] = lambda: loop.optimizer.param_groups[0].update(lr=5.0)
    loop.at[STEPS - 1] = lambda: loop.optimizer.param_groups[0].update(lr=0.05)
    with looked_into(tmp_path, loop, following=True) as trials:
        for _ in range(2):
            tried(trials, "unchanged")
            assert len(trials.moves) == trials.history.steps
        key = id(loop.model[0].weight)
        assert max(range(len(trials.moves)), key=lambda n: trials.moves[n][key]) == len(trials.moves) - 2


def test_a_weight_changed_outside_the_recorded_calls_is_where_the_replay_departs(tmp_path):
    loop = Loop(sgd)
    loop.at[STEPS - 1] = lambda: loop.model[2].bias.detach().numpy().fill(30.0)
    with looked_into(tmp_path, loop) as trials:
        tried(trials, "unchanged")
        assert trials.departs == STEPS - 1
        assert not trials.reproduced_bits


def test_gradients_cleared_by_hand_are_cleared_again(tmp_path):
    loop = Loop(sgd)

    def by_hand() -> None:
        for parameter in loop.model.parameters():
            parameter.grad = None

    loop.clear = by_hand
    with looked_into(tmp_path, loop) as trials:
        tried(trials, "unchanged")
        assert trials.losses == loop.losses[-len(trials.losses) :]


class Carrying(nn.Module):
    """A hidden state goes on from batch to batch in an attribute, beside a counter that the output depends on."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head, self.hidden, self.calls = nn.RNNCell(4, 5), nn.Linear(5, 1), torch.zeros(8, 5), 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        hidden = self.cell(x, self.hidden)
        self.hidden = hidden.detach()
        return self.head(hidden) * (1 + 0.1 * self.calls)


def test_what_modules_carry_in_attributes_is_that_of_the_snapshot(tmp_path):
    loop = Loop(sgd, net=Carrying)
    carried: list[Any] = []
    loop.over = lambda: carried.append(loop.model.hidden)
    with looked_into(tmp_path, loop) as trials:
        tried(trials, "unchanged")
        assert trials.losses == loop.losses[-len(trials.losses) :]
        assert loop.model.hidden is not carried[0]
    assert loop.model.hidden is carried[0]
    assert loop.model.calls == STEPS
