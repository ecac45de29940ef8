"""A program that dies of an exception about its values ends with one incident, told as any other."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.distributions import Categorical

from tests.watching import only, under_watch


def test_it_is_counted_once_with_the_time_it_took_and_what_was_drawn_stays_drawn(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 3)
    with under_watch(tmp_path) as session:
        try:
            share = torch.relu(model(torch.ones(4, 3))).mul(0.0)
            Categorical(probs=share / share.sum(-1, keepdim=True))
        except ValueError as error:
            drawn = torch.get_rng_state()
            session.crashed(error)
        assert session.state.anomalies == 1
        assert torch.equal(torch.get_rng_state(), drawn)
    found = only(tmp_path)
    assert (found.verdict.kind, found.facts.symptom) == ("zero_division", "crash")
    assert found.facts.replay is not None and found.facts.replay.alarm_to_verdict_s > 0


def test_an_exception_about_other_things_opens_nothing(tmp_path: Path) -> None:
    with under_watch(tmp_path) as session:
        try:
            nn.Linear(3, 3)(torch.ones(4, 2))
        except RuntimeError as error:
            session.crashed(error)
        assert session.state.anomalies == 0
