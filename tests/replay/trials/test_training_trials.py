"""Training again on the kept batches: as by hand when nothing is changed, nothing left of it, refused where it would
show nothing."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer import session
from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import interventions
from debugtracer.replay.trials.training_trials import HELD_BACK, LEAST_BATCHES, TrainingTrials
from tests.replay.pasts import UPDATES, Loop, bits, trained, training, tried
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def noisy() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.3), nn.Linear(6, 1))


def by_hand(loop: Loop, trials: TrainingTrials, decay: float | None = None) -> float:
    segments = trials.history.segments
    start = segments[0].first_step
    model = copy.deepcopy(loop.model)
    optimizer = loop.make(model.parameters())
    model.load_state_dict(loop.before[start][0])
    optimizer.load_state_dict(copy.deepcopy(loop.before[start][1]))
    if decay is not None:
        optimizer.param_groups[0]["weight_decay"] = decay
    for segment in trials.sequence():
        x, y = loop.data[segment.first_step]
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    looked_at = [loop.data[s.first_step] for s in segments[HELD_BACK - 1 :: HELD_BACK]]
    losses = [F.mse_loss(model(x), y).item() for x, y in looked_at]
    return sum(losses) / len(losses)


def decaying() -> Loop:
    return Loop(lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=3.0))


def test_the_unchanged_training_is_the_one_by_hand_and_a_changed_one_too(tmp_path):
    loop = decaying()
    with training(tmp_path, loop) as trials:
        trials.check()
        for repeat in (0, 1):
            trials.take_order(repeat)
            asis, without = tried(trials, "unchanged"), tried(trials, "without-decay")
            assert asis.loss == pytest.approx(by_hand(loop, trials), rel=1e-6)
            assert without.loss == pytest.approx(by_hand(loop, trials, decay=0.0), rel=1e-6)
            assert without.loss != asis.loss


def test_a_repeat_takes_another_order_and_the_same_repeat_the_same_bits(tmp_path):
    with training(tmp_path, Loop(net=noisy)) as trials:
        orders, losses = [], []
        for repeat in (0, 1, 0):
            trials.take_order(repeat)
            orders.append([s.number for s in trials.sequence()])
            losses.append(tried(trials, "unchanged").loss)
        assert orders[0] == orders[2] != orders[1]
        assert losses[0] == losses[2] != losses[1]
        held = {s.number for s in trials.history.segments[HELD_BACK - 1 :: HELD_BACK]}
        assert held and held.isdisjoint(orders[0])


@pytest.mark.parametrize("slug", ["unchanged", "without-decay", "fresh-weights", "higher-lr"])
def test_nothing_is_left_of_it(tmp_path, slug):
    loop = Loop(lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.3), net=noisy)
    with trained(tmp_path, loop, trials=0) as (watching, _, context), watching.stack.paused():
        past = watching.ring.longest()
        assert past is not None
        before, groups = bits(loop), [{**g, "params": 0} for g in loop.optimizer.param_groups]
        with TrainingTrials(past, context, UPDATES) as trials:
            trials.check()
            tried(trials, slug)
        assert all(map(same_bits, bits(loop), before))
        assert [{**g, "params": 0} for g in loop.optimizer.param_groups] == groups


def test_a_model_in_eval_mode_trains_as_it_did_and_is_in_eval_mode_after(tmp_path):
    loop = Loop(net=noisy)
    loop.over = lambda: loop.model.eval() and None
    with training(tmp_path, loop) as trials:
        trials.check()
        assert trials.all_training
        tried(trials, "unchanged")
        assert not any(m.training for m in loop.model.modules())


def test_steps_that_do_not_come_out_again_are_no_ground_to_judge_from(tmp_path):
    loop = Loop()
    with training(tmp_path, loop) as trials:
        for segment in trials.history.segments:
            segment.losses[0] = (segment.losses[0][0] + 1.0, segment.losses[0][1])
        with pytest.raises(ReplayRefused, match="lead away from the recorded losses"):
            trials.check()


def test_too_few_steps_are_refused_before_anything_is_touched(tmp_path):
    with trained(tmp_path, Loop(), trials=0) as (watching, past, context), watching.stack.paused():
        assert len(past.segments) < LEAST_BATCHES
        with pytest.raises(ReplayRefused, match=f"expected {LEAST_BATCHES} at least"):
            TrainingTrials(past, context, UPDATES)


def test_several_optimizers_are_refused(tmp_path):
    loop, weight = Loop(), nn.Parameter(torch.zeros(1))
    other = torch.optim.SGD([weight], lr=0.1)
    with trained(tmp_path, loop, trials=0) as (watching, _, context), watching.stack.paused():
        past = watching.ring.longest()
        assert past is not None
        step = next(e for e in past.segments[0].entries if e.kind == "step")
        step.args = (other, *step.args[1:])
        with pytest.raises(ReplayRefused, match="several optimizers"):
            TrainingTrials(past, context, UPDATES)


def test_only_trainings_use_what_no_single_step_shows():
    slow = {slug for slug, i in interventions().items() if i.by_training}
    assert slow == {"without-decay", "higher-lr", "fresh-weights", "built-rate", "float32-update"}
