"""A step whose cause the user lives with is written as the program has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tests.responses.chosen import BAD, go
from tests.responses.loops import actions, given


def test_what_is_noted_alone_is_left_to_the_program(tmp_path: Path) -> None:
    loop = go(tmp_path, given(BAD + 1, (BAD,)), "data-nonfinite=note")
    done = actions(tmp_path)
    assert {a.action for a in done} == {"note"} and all("as you have chosen" in a.reason for a in done)
    assert bool(next(loop.model.parameters()).isnan().any())


class MendingSgd(torch.optim.SGD):
    """Writes no value that is not finite."""

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad.nan_to_num_(0.0, 0.0, 0.0)
        super().step(closure)


def test_it_answers_its_cause_after_the_last_saved_incident_too(tmp_path: Path) -> None:
    bad = tuple(range(10, 38, 4))
    loop = go(tmp_path, given(45, bad), "data-nonfinite=note", lambda p: MendingSgd(p, lr=0.01))
    assert [(a.action, a.step) for a in actions(tmp_path)] == [("note", step) for step in bad]
    assert bool(next(loop.model.parameters()).isfinite().all())
    folders = list(tmp_path.glob("latest/incidents/*"))
    assert len(folders) == 5, "as many are saved as may be"
