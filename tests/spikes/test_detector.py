"""One series, value by value."""

from __future__ import annotations

import random

from debugtracer.spikes.detector import Detector
from debugtracer.spikes.episode import Episode
from tests.spikes.series import falling, ref


def episodes(values: list[float], least_rise: float = 0.02) -> list[Episode]:
    """Every piece of news; an episode comes once for each change."""
    detector, news = Detector(least_rise), []
    for step, value in enumerate(values):
        news += detector.push(value, ref(step))
    return news + detector.end()


def test_a_falling_loss_has_suspicions_at_most():
    news = [one for seed in range(4) for one in episodes(falling(1000, seed=seed))]
    assert [one for one in news if one.sudden or one.confirmed] == []


def test_a_spike_is_told_at_its_step_and_again_when_it_is_over():
    losses = falling(300)
    losses[200] *= 4
    opened, settled = episodes(losses)
    assert opened is settled
    assert settled.ref.step == 200
    assert settled.shape == "spike"


def test_a_creeping_level_is_confirmed_then_settled():
    losses = [v * (1.12 if step >= 400 else 1.0) for step, v in enumerate(falling(600))]
    news = episodes(losses)
    assert {one.sudden for one in news} == {False}
    assert 400 <= news[0].ref.step <= 408
    assert news[-1].shape == "drift"


def test_a_jump_within_a_suspicion_is_told_at_its_own_step():
    losses = [v * (1.12 if step >= 400 else 1.0) for step, v in enumerate(falling(600))]
    losses[415:] = [6 * v for v in losses[415:]]
    told = [one for one in episodes(losses) if one.sudden]
    assert told[0].ref.step == 415
    assert told[-1].shape == "step change"


def test_the_first_64_values_are_silent():
    losses = falling(120)
    losses[50] *= 10
    assert episodes(losses) == []


def test_a_loss_next_to_nothing_may_jump():
    losses = falling(300, start=3.0, end=1e-5, noise=0.05)
    tiny = [v * 1e-3 if step > 100 else v for step, v in enumerate(losses)]
    tiny[250] *= 8
    assert [one for one in episodes(tiny) if one.ref.step >= 240] == []
    assert [one for one in episodes(tiny, least_rise=0.0) if one.ref.step >= 240] != []


def test_an_outlier_every_sixth_step_is_how_the_run_is():
    chance = random.Random(3)
    losses = [(5.0 if step % 6 == 5 else 1.0) * (1 + 0.03 * chance.gauss(0, 1)) for step in range(600)]
    assert episodes(losses) == []


def test_after_a_step_change_the_new_level_is_learnt():
    losses = [v * (3.0 if step >= 300 else 1.0) for step, v in enumerate(falling(700))]
    losses[600] *= 4
    news = episodes(losses)
    assert [(one.ref.step, one.shape) for one in news if one.shape][::2] == [(300, "step change"), (600, "spike")]


def test_a_log_of_every_tenth_step_names_its_own_steps():
    detector, losses, news = Detector(0.02), falling(300), []
    losses[200], losses[201] = 9.0, 9.0
    for place, value in enumerate(losses):
        news += detector.push(value, ref(10 * place))
    assert (news[-1].ref.step, news[-1].last_bad) == (2000, 2010)


def test_the_end_of_the_run_settles_what_has_eight_values_and_drops_the_rest():
    losses = [v * (3.0 if step >= 290 else 1.0) for step, v in enumerate(falling(302))]
    assert episodes(losses)[-1].shape == "step change"
    assert episodes(losses[:294])[-1].shape is None


def about_zero(count: int, peak: float) -> list[float]:
    """Small values of both signs with one larger, and a jump at 160."""
    chance = random.Random(5)
    values = [0.01 * chance.gauss(-0.5, 1) for _ in range(count)]
    values[130], values[160] = -0.1, peak
    return values


def test_a_loss_of_both_signs_must_leave_all_it_has_been():
    assert [one for one in episodes(about_zero(260, 0.15)) if one.sudden] == []
    assert [one.ref.step for one in episodes(about_zero(260, 5.0)) if one.sudden] == [160, 160]
    far_below = [v - 1.0 for v in about_zero(260, 1.5)]  # one sign until it jumps over 0
    assert 160 in [one.ref.step for one in episodes(far_below) if one.sudden]


def small_batches(steps: int, seed: int) -> list[float]:
    """Losses of batches of four once they are learnt: next to nothing, exactly 0 in float32, now and then one sample
    that weighs a quarter of the mean."""
    draw = random.Random(seed)
    learnt = [draw.lognormvariate(-7, 3) if draw.random() < 0.88 else draw.uniform(0.5, 2.0) for _ in range(steps)]
    first = [0.7 + 0.1 * draw.random() for _ in range(32)]
    return first + [0.0 if value < 1e-5 else min(value, 2.0) for value in learnt]


def test_one_sample_of_a_small_batch_is_no_news_where_it_comes_again_and_again():
    opened = [one for seed in range(8) for one in episodes(small_batches(500, seed)) if one.sudden]
    assert len({one.ref.step for one in opened if one.ref.step > 150 and one.strong}) <= 1


def test_a_jump_out_of_such_a_loss_is_told_all_the_same():
    for seed in range(4):
        values = [*small_batches(300, seed), 30.0, *small_batches(60, seed)[32:]]
        assert max(one.peak for one in episodes(values)) == 30.0, seed
