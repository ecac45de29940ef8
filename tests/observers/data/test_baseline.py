"""What one tensor has been like, and how far a batch lies from it."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.data.baseline import BRIEF, FRESH, LEARNT, STILL_LEARNT, Baseline, BaselineLevel
from debugtracer.observers.data.tensor_summary import look_at


def floats(scale=1.0, shift=0.0, seed=0, rows=16):
    return look_at(scale * torch.randn(rows, 6, generator=torch.Generator().manual_seed(seed)) + shift)


def texts(low=0, high=30, seed=0, rows=16):
    return look_at(torch.randint(low, high, (rows, 24), generator=torch.Generator().manual_seed(seed)))


def learnt(looks, role="float"):
    habit = Baseline(role)
    for look in looks:
        habit.learn(look, bool(habit.distances(look)))
    return habit


def test_nothing_is_far_from_little():
    assert not learnt([floats(seed=n) for n in range(LEARNT - 1)]).distances(floats(100.0))


@pytest.mark.parametrize(
    ("look", "respects"), [(floats(100.0, seed=99), {"std"}), (floats(1.0, 20.0, seed=99), {"mean"})]
)
def test_another_scale_or_level_is_far(look, respects):
    assert respects <= {far.respect for far in learnt([floats(seed=n) for n in range(40)]).distances(look)}


def test_healthy_batches_are_not_far():
    habit = learnt([floats(seed=n) for n in range(40)])
    assert not [n for n in range(40, 240) if habit.distances(floats(seed=n))]


def test_the_last_short_batch_is_not_far():
    habit = learnt([floats(seed=n) for n in range(40)])
    assert sum(bool(habit.distances(floats(seed=n, rows=3))) for n in range(40, 140)) <= 2
    words = learnt([texts(seed=n) for n in range(40)], "ids")
    assert not [n for n in range(40, 140) if words.distances(texts(seed=n, rows=3))]


def test_other_tokens_are_far_and_healthy_ones_are_not():
    habit = learnt([texts(seed=n) for n in range(40)], "ids")
    (far,) = habit.distances(texts(30, 60, seed=99))
    assert far.respect == "token histogram"
    assert far.value > 3
    assert not [n for n in range(40, 140) if habit.distances(texts(seed=n))]


def test_a_drift_is_followed():
    assert learnt([floats(1.0 + n / 200, seed=n) for n in range(400)]).std.centre > 2.5


def test_far_batches_are_not_learnt_until_they_are_the_usual():
    habit = learnt([floats(seed=n) for n in range(40)])
    for n in range(FRESH - 1):
        habit.learn(floats(100.0, seed=n), True)
    assert habit.std.centre < 2
    habit.learn(floats(100.0), True)
    assert habit.looks == 1
    assert habit.std.centre > 50


def cauchy(seed):
    g = torch.Generator().manual_seed(seed)
    return look_at(torch.randn(16, 5, generator=g) / torch.rand(16, 5, generator=g).clamp_min(1e-3))


def test_data_with_heavy_tails_do_not_stay_far():
    habit = learnt([cauchy(n) for n in range(100)])
    far = []
    for n in range(100, 900):
        look = cauchy(n)
        far.append(bool(habit.distances(look)))
        habit.learn(look, far[-1])
    assert sum(far) < 40  # of 800; a quarter while strays were never learnt
    assert not any(all(far[n : n + 3]) for n in range(len(far) - 2))


def test_a_longer_run_of_far_batches_is_no_stray():
    habit = learnt([floats(seed=n) for n in range(40)])
    for n in range(BRIEF + 1):
        habit.learn(floats(100.0, seed=n), True)
    habit.learn(floats(seed=50), False)
    assert max(habit.std.values) < 2


def test_channels_that_ever_stood_still_are_left_alone():
    one_hot = torch.eye(4)[torch.arange(16) % 3]
    habit = Baseline("float")
    for _ in range(STILL_LEARNT + 5):
        look = look_at(torch.cat([torch.randn(16, 2), one_hot], 1))
        assert habit.still_now(look) == []
        habit.learn(look, False)
    x = torch.cat([torch.randn(16, 2), one_hot], 1)
    x[:, 1] = 0.0
    assert habit.still_now(look_at(x)) == [1]
    habit.still_now(look_at(torch.cat([torch.randn(16, 2), one_hot], 1)))
    assert habit.still_now(look_at(x)) == []  # it moved again: a sparse column


def test_columns_of_batches_of_other_widths_are_no_features():
    gates = [torch.zeros(16, 20 + n % 3).index_fill_(1, torch.tensor([18]), n % 7) for n in range(STILL_LEARNT + 20)]
    habit = Baseline("float")
    for gate in gates:
        look = look_at(gate)
        assert habit.still_now(look) == []
        habit.learn(look, False)


def test_labels_in_blocks_are_counted_and_a_mixture_is_not():
    habit = learnt([look_at(torch.full((32,), n // 10 % 4)) for n in range(60)], "label")
    assert habit.skewed >= 40
    assert habit.entropy.centre == 0.0
    mixed = learnt(
        [look_at(torch.randint(0, 4, (32,), generator=torch.Generator().manual_seed(n))) for n in range(60)], "label"
    )
    assert mixed.skewed == 0


def test_small_batches_cannot_hold_all_classes():
    habit = learnt([look_at(torch.full((8,), n % 4)) for n in range(60)], "label")
    assert habit.skewed == 0


def test_a_tail_value_that_changes_is_no_padding():
    habit = Baseline("ids")
    habit.learn_padding(torch.tensor([4, 8]), 8, 0)
    habit.learn_padding(torch.tensor([1, 1]), 8, 7)
    assert list(habit.pad.values) == [0.25]
    assert habit.lengths == (4, 8, 8)


def test_a_level_is_a_median_with_its_deviation():
    level = BaselineLevel()
    for value in (1.0, 2.0, 3.0, 4.0, 100.0):
        level.push(value)
    assert (level.centre, level.mad) == (3.0, 1.0)
    assert level.far("mean", 11.1, 0.0) is not None
    assert level.far("mean", 10.9, 0.0) is None


def test_a_value_that_was_there_twice_is_not_far():
    level = BaselineLevel()
    for value in [1.0] * 60 + [3.0, 3.0]:
        level.push(value)
    assert level.mad == 0.0
    assert level.far("mean", 3.0, 0.0) is None
    assert level.far("mean", 2.0, 0.0) is None
    far = level.far("mean", 3.5, 0.0)
    assert far is not None
    assert far.usual == 1.0
