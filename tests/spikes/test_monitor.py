"""What the loss and gradient checks of a run share."""

from __future__ import annotations

import time
from collections import deque

import pytest

from debugtracer.spikes.monitor import monitor
from debugtracer.spikes.point import LEAST_Z
from debugtracer.trace.facts.new_training import NewTraining
from debugtracer.trace.window import ENDED, Window
from tests.spikes.series import falling, ref


def windows(**series: list[float]) -> list[Window]:
    """One window a step, as the judge makes them: one set of series and memories that all share."""
    kept: dict[str, deque[float]] = {name: deque(maxlen=640) for name in series}
    memories: dict[str, dict[object, object]] = {}
    count = len(next(iter(series.values())))
    for step in range(count):
        for name, values in series.items():
            kept[name].append(values[step])
        yield Window(ref(step), kept, frozenset(series), memories=memories)


def test_each_value_is_taken_once_however_many_checks_ask():
    for window in windows(loss=[1.0, 2.0, 3.0]):
        first = monitor(window)
        assert monitor(window) is first
    assert first.level.count == 3


def test_other_options_have_a_state_of_their_own():
    for window in windows(loss=[1.0, 2.0]):
        assert monitor(window, 8.0) is not monitor(window)


def test_records_and_the_change_of_the_parameters():
    seen = None
    for window in windows(loss=[1.0, 5.0], grad_l2=[2.0, 30.0], param_l2=[8.0, 9.0]):
        seen = monitor(window)
    assert seen is not None
    assert (seen.loss_times, seen.grad_times, seen.param_times) == (5.0, 15.0, pytest.approx(9 / 8))


def test_a_jump_of_the_learning_rate_is_found_where_it_was():
    seen = None
    for window in windows(loss=[1.0] * 40, lr=[0.1] * 20 + [1.0] * 20):
        seen = monitor(window)
    assert seen is not None
    assert seen.lr_jump(ago=20) == pytest.approx(10.0)
    assert seen.lr_jump(ago=15) == pytest.approx(10.0)
    assert seen.lr_jump() == 0.0
    assert seen.lr_jump(ago=30) == 0.0


def test_a_new_loss_scale_is_a_new_unit_of_the_gradient():
    scales = [65536.0] * 100 + [131072.0] * 100
    norms = [v * s for v, s in zip(falling(200), scales, strict=True)]
    news = []
    for window in windows(loss=falling(200), grad_l2=norms, scale=scales):
        news += monitor(window).grad_news
    assert news == []


def test_the_end_settles_what_is_open():
    losses = [v * (5.0 if step >= 90 else 1.0) for step, v in enumerate(falling(105))]
    for window in windows(loss=losses):
        monitor(window)
    last = Window(window.ref, window.series, frozenset(), frozenset({ENDED}), memories=window.memories)
    assert [episode.shape for episode in monitor(last).news] == ["step change"]


def test_a_step_costs_less_than_a_millisecond():
    all_windows = windows(
        loss=falling(1500), grad_l2=falling(1500, seed=1), param_l2=falling(1500, seed=2), lr=[1e-3] * 1500
    )
    begin = time.process_time()
    for window in all_windows:
        monitor(window)
    assert (time.process_time() - begin) / 1500 < 1e-3


def test_another_training_begins_with_nothing_known():
    kept: dict[str, deque[float]] = {"loss": deque(maxlen=640)}
    memories: dict[str, dict[object, object]] = {}
    found = []
    for step in range(200):
        kept["loss"].append(falling(200)[step] if step < 100 else 40.0 - step / 10)
        fact = NewTraining(ref=ref(step), why="parameters", before=100)
        news = {"facts": {NewTraining: [fact]}, "came": {NewTraining: 1}} if step == 100 else {}
        found += monitor(Window(ref(step), kept, frozenset({"loss"}), memories=memories, **news)).news
    assert found == []
    assert memories["spikes"][LEAST_Z].level.first > 20


def test_a_rate_that_goes_to_and_fro_between_two_optimizers_is_no_jump():
    for lr in ([1e-3, 5e-4, 1e-2] * 20, [1e-3] * 4 + [1e-2] + [1e-3, 1e-2] * 20):
        for window in windows(loss=[1.0] * len(lr), lr=lr):
            seen = monitor(window)
        assert seen.lr_jump() == 0.0
    for window in windows(loss=[1.0] * 60, lr=[1e-2] * 20 + [1e-4] * 38 + [1e-2] * 2):  # a warm restart is one
        seen = monitor(window)
    assert seen.lr_jump() == pytest.approx(100.0)
