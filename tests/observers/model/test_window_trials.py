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


class Decoder(nn.Module):
    """Says what comes from the past, at which it looks here and there, and from what it is given beside it."""

    def __init__(self, picks: bool = False, noise: float = 0.0) -> None:
        super().__init__()
        self.past, self.out, self.picks, self.noise = nn.Linear(2, 8), nn.Linear(10, 2), picks, noise

    def forward(self, past, given):
        seen = past[:, torch.randint(0, PAST, (5,))] if self.picks else past
        around = self.past(seen).mean(1, keepdim=True).expand(-1, given.shape[1], -1)
        around = around + self.noise * torch.randn_like(around) if self.noise else around
        return self.out(torch.cat([around, given], 2))[:, -AHEAD:]


class FromLeftToRight(Decoder):
    """Reads what it is given one position later than it answers."""

    def __init__(self) -> None:
        super().__init__(True)
        self.rnn = nn.GRU(2, 2, batch_first=True)

    def forward(self, past, given):
        return super().forward(past, self.rnn(given)[0])


def decoded(out, model, given, *, by_name=False):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(2):
            series = torch.randn(8, PAST + AHEAD, 2)
            past, rest = series[:, :PAST], series[:, PAST - 3 :]
            handed = given(rest)
            optimizer.zero_grad()
            said = model(past, given=handed) if by_name else model(past, handed)
            nn.functional.mse_loss(said, series[:, PAST:]).backward()
            optimizer.step()
    return [fact for fact in facts(out, FunctionTest) if fact.trial == "target_window"]


def zeros_after(rest):
    return torch.cat([rest[:, :3], torch.zeros_like(rest[:, 3:])], 1)


@pytest.mark.parametrize("picks", [False, True])
@pytest.mark.parametrize("by_name", [False, True])
def test_a_decoder_that_is_given_what_it_is_to_predict(tmp_path, picks, by_name):
    (fact,) = decoded(tmp_path, Decoder(picks), torch.clone, by_name=by_name)
    assert (fact.changed, fact.position, fact.common, fact.length) == (True, 3, AHEAD, AHEAD)
    assert fact.argument == "given"
    assert "handed" in fact.frame.code


def test_the_line_that_makes_what_a_decoder_is_given(tmp_path):
    def cut(model, past, rest):
        known = torch.cat([rest, torch.zeros_like(rest)], 1)[:, : rest.shape[1]]
        return model(past, known)

    model = Decoder()
    with under_watch(tmp_path):
        series = torch.randn(8, PAST + AHEAD, 2)
        nn.functional.mse_loss(cut(model, series[:, :PAST], series[:, PAST - 3 :]), series[:, PAST:]).backward()
        torch.optim.SGD(model.parameters(), lr=0.01).step()
    (fact,) = [fact for fact in facts(tmp_path, FunctionTest) if fact.trial == "target_window"]
    assert "torch.cat([rest" in fact.made[0].code


@pytest.mark.parametrize("picks", [False, True])
@pytest.mark.parametrize("given", [zeros_after, lambda rest: rest + 0.1 * torch.randn_like(rest)])
def test_zeros_and_noisy_targets_are_silent(tmp_path, picks, given):
    assert decoded(tmp_path, Decoder(picks), given) == []


def test_other_noise_is_silent(tmp_path):
    assert decoded(tmp_path, Decoder(True, 0.5), torch.clone) == []


def test_a_decoder_that_is_given_the_values_before_its_own_may_be_taught(tmp_path):
    (fact,) = decoded(tmp_path, FromLeftToRight(), lambda rest: rest[:, 2:-1].clone())
    assert not fact.changed
