"""A step that died of its values is one incident, told once and without a stop of ours."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.distributions import Normal

from debugtracer.trace.events import Acted
from tests.watching import events, incidents, under_watch


def test_it_is_told_once_and_ends_of_its_own(tmp_path: Path) -> None:
    model = nn.Linear(3, 3)
    with under_watch(tmp_path, mode="dev") as session:
        for _ in range(2):
            try:
                Normal(torch.log(model(torch.ones(4, 3)) * 0.0 - 1.0), 1.0)
            except ValueError as error:
                session.crashed(error)
    assert [one.facts.symptom for one in incidents(tmp_path)] == ["crash"]
    assert not [one for one in events(tmp_path) if isinstance(one, Acted)]
