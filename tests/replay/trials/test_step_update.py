"""Who will step after the failing step, and from which state; the whole of it runs in tests/interventions and
tests/diagnosis/proof/test_prove.py."""

from __future__ import annotations

import pytest
import torch

from debugtracer.replay.trials.step_update import copies_of, needs_closure
from tests.interventions.building import at_the_incident, data, fit


def test_an_optimizer_that_computes_the_loss_itself_cannot_be_stepped() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    assert needs_closure(torch.optim.LBFGS([weight]))
    assert not needs_closure(torch.optim.Adam([weight]))


def test_the_state_before_the_update_is_copied_unless_it_is_too_large(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters())
    asked: list[object] = []

    def look(trials) -> None:
        asked.append(trials.updaters == [optimizer])
        asked.append(len(copies_of([optimizer], trials.context, 10**6) or []))
        asked.append(copies_of([optimizer], trials.context, 1))

    assert (
        at_the_incident(monkeypatch, tmp_path, lambda: fit(model, data(value=float("nan")), optimizer=optimizer), look)
        == 1
    )
    assert asked == [True, 1, None]
