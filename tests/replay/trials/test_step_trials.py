"""Trials of the step of an alarm, made or refused, leave the world as it was; the rest is in tests/interventions and
tests/diagnosis."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.replay.trials.step_trials import StepTrials
from tests.interventions.building import at_the_incident, data, fit


def test_a_step_that_comes_too_late_is_refused_and_the_recorder_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    model = torch.nn.Linear(4, 2)
    told: list[str] = []

    def look(trials: StepTrials) -> None:
        late = dataclasses.replace(trials.alarm, late="its state is gone")
        with pytest.raises(ReplayRefused) as refused:
            StepTrials(late, trials.context, None, None, 10**6, [])
        told.append(str(refused.value))

    assert at_the_incident(monkeypatch, tmp_path, lambda: fit(model, data(value=float("nan"))), look) == 1
    assert told == ["its state is gone"]


def test_what_is_known_of_the_step_is_set_when_the_trials_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    model = torch.nn.Linear(4, 2)
    seen: list[object] = []

    def look(trials: StepTrials) -> None:
        rerun = trials.rerun()
        seen.extend(
            [
                trials.rows,
                rerun.rows,
                rerun.guilty,
                trials.probe is not None,
                len(trials.healthy),
                [leaf.tensor.shape[0] for leaf in rerun.batch],
            ]
        )

    assert at_the_incident(monkeypatch, tmp_path, lambda: fit(model, data(value=float("nan"))), look) == 1
    assert seen == [6, 6, (2,), True, 1, [6]]
