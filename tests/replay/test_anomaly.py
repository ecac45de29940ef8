"""torch's anomaly mode beside our birth: its sentence, the line it names, and the user's own setting left alone."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.forked import programs
from tests.watching import only, under_watch

FAULTS = Path(__file__).resolve().parents[2] / "faults" / "numerics"


class Norms(nn.Module):
    """Distances of rows from 0, whose root has an infinite derivative at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, scale):
        y = self.norm(self.body(x)) * scale
        return torch.sqrt((y * y).sum(1)).mean()  # LINE


LINE = next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("# LINE"))


def trained(model, steps=6, bad=3):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.rand(6, 4), 0.0 if step == bad else 1.0).backward()
        optimizer.step()


def said(out, model, **settings) -> str:
    with under_watch(out, **settings):
        trained(model)
    incident = only(out)
    assert incident.facts.birth.direction == "backward" and incident.facts.replay.parity == "bitwise"
    return incident.facts.replay.anomaly


def test_its_sentence_and_its_forward_line_are_quoted(tmp_path):
    assert (
        said(tmp_path, Norms())
        == f"Function 'MulBackward0' returned nan values in its 0th output, called forward at test_anomaly.py:{LINE}"
    )


def test_nothing_is_shown_and_training_is_as_without_it(tmp_path):
    states = []
    for watched in (False, True):
        torch.manual_seed(3)
        model = Norms()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said(tmp_path, model) if watched else trained(model)
        states.append(b"".join(t.numpy().tobytes() for t in model.state_dict().values()))
    assert states[0] == states[1] and model.body.weight.isnan().any(), (
        "the weights are NaN after the bad step, and the same bit for bit"
    )


@pytest.mark.parametrize("check_nan", [None, False])
def test_the_setting_of_the_user_is_left_as_it_was(tmp_path, check_nan):
    before = (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    try:
        if check_nan is not None:
            torch.autograd.set_detect_anomaly(True, check_nan=check_nan)
        mine = (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        assert "MulBackward0" in said(tmp_path, Norms())
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == mine
    finally:
        torch.set_anomaly_enabled(*before)


def test_an_infinite_gradient_without_a_nan_is_nothing_to_anomaly_mode(tmp_path):
    class Root(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x, scale):
            if not scale:
                with torch.no_grad():
                    self.weight.zero_()
            return self.weight.sqrt().sum()

    with under_watch(tmp_path):
        trained(Root(), steps=4)
    facts = only(tmp_path).facts
    assert facts.birth is not None and facts.replay.anomaly == ""


def test_an_operator_of_the_loop_itself_is_quoted_without_a_line(tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path):
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(5):
            optimizer.zero_grad()
            y = model(torch.rand(6, 4)) * (0.0 if step == 3 else 1.0)
            torch.sqrt((y * y).sum(1)).mean().backward()
            optimizer.step()
    assert only(tmp_path).facts.replay.anomaly == "Function 'MulBackward0' returned nan values in its 0th output"


def test_a_planted_program_tells_it_at_the_stop_and_in_the_replay_of_its_capsule(run_watched):
    program = FAULTS / "where_unselected_sqrt"
    (script,) = program.glob("train*.py")
    watched = run_watched(script, mode="dev")
    words = " ".join(watched.stderr.split())
    assert (
        watched.status == 3
        and "torch anomaly mode says: Function '" in words
        and "returned nan values in its 0th output" in words
    )
    again = [*programs().tool, "replay", str(next((watched.run / "incidents").iterdir()))]
    replayed = subprocess.run(again, capture_output=True, text=True, check=True, timeout=300)
    assert "anomaly mode says: Function '" in " ".join(replayed.stdout.split())
