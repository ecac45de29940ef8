"""Targets that are in the window a model is given."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.model.window_trials import overlap
from debugtracer.trace.facts.function_test import FunctionTest
from tests.observers.told import facts
from tests.watching import under_watch

PAST, AHEAD = 12, 4


class Forecast(nn.Module):
    def __init__(self, ahead=AHEAD):
        super().__init__()
        self.net = nn.Linear(PAST, ahead)

    def forward(self, x):
        return self.net(x)


class ByChannel(Forecast):
    def forward(self, x):
        return self.net(x.transpose(1, 2)).transpose(1, 2)


class NextStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(2, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


def told(out, model, start, ahead, *, channels=0, losses=1):
    torch.manual_seed(0)
    wide = (channels,) if channels else ()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(2):
            series = torch.randn(8, PAST + AHEAD, *wide)
            optimizer.zero_grad()
            given = model(series[:, :PAST])
            loss = sum(nn.functional.mse_loss(given, series[:, start : start + ahead]) for _ in range(losses))
            loss.backward()
            optimizer.step()
    return [fact for fact in facts(out, FunctionTest) if fact.trial == "target_window"]


@pytest.mark.parametrize(("start", "common"), [(PAST - 1, 1), (PAST - AHEAD, AHEAD)])
def test_a_target_that_begins_in_the_window_changes_with_it(tmp_path, start, common):
    (fact,) = told(tmp_path, Forecast(), start, AHEAD)
    assert (fact.changed, fact.position, fact.common, fact.length) == (True, start, common, AHEAD)
    assert fact.made and "series[:, start" in fact.made[0].code


def test_channels_are_compared_each_with_its_own(tmp_path):
    (fact,) = told(tmp_path, ByChannel(), PAST - 2, AHEAD, channels=3)
    assert (fact.changed, fact.position, fact.common) == (True, PAST - 2, 2)


def test_a_model_that_cannot_see_the_next_step_may_predict_it(tmp_path):
    (fact,) = told(tmp_path, NextStep(), 1, PAST, channels=2)
    assert (fact.changed, fact.position) == (False, 1)


def test_a_target_after_the_window_the_whole_window_and_a_second_loss_are_silent(tmp_path):
    assert told(tmp_path / "a", Forecast(), PAST, AHEAD) == []
    assert told(tmp_path / "b", Forecast(PAST), 0, PAST) == []
    assert told(tmp_path / "c", Forecast(), PAST - 1, AHEAD, losses=2) == []


def test_one_channel_of_a_window_may_be_the_target():
    window = torch.arange(96.0).reshape(4, 8, 3)
    assert overlap(window[..., 2:], window[:, 7, 2]) == (7, 1)
    assert overlap(window[..., :1], window[:, 6, :1].contiguous()) is None  # not at its end
    assert overlap(torch.zeros(4, 8), torch.zeros(4, 1)) is None  # marks meet by chance


def test_a_window_that_is_turned_round_is_no_window_that_begins_late():
    window = torch.randn(16, 8)
    assert overlap(window, window.flip(1)) is None
    assert overlap(window, window.roll(-3, 1)) is None
    assert overlap(window, torch.cat([window[:, 6:], torch.randn(16, 4)], 1)) == (6, 6)
