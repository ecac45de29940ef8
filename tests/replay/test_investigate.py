"""The fallback order: tape, forward alone, flight record; and each says why the one before it was refused."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor, nn

from tests.watching import LogHead, batches, incidents, only, seeded, under_watch


def one_step(tmp_path, model: nn.Module, given: Tensor, loss=lambda out: out.mean(), **settings):
    with under_watch(tmp_path, **settings):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss(model(given)).backward()
        optimizer.step()
    return only(tmp_path).facts


def test_a_recorded_step_is_replayed_from_its_tape(tmp_path):
    replay = one_step(tmp_path, seeded(LogHead), batches(1, bad=0)[0]).replay
    assert (replay.mechanism, replay.reproduced, replay.parity, replay.refused) == ("tape", True, "bitwise", ())
    assert replay.alarm_to_verdict_s > 0 and replay.traced_slowdown > 0


def test_an_input_with_an_unknown_graph_leaves_the_forward_alone(tmp_path):
    facts = one_step(tmp_path, seeded(LogHead), batches(1, bad=0)[0] * torch.ones(4, requires_grad=True))
    assert facts.replay.mechanism == "forward-only"
    assert facts.replay.refused == ("tape: a tensor with a graph came from a call that the tape cannot see",)


def test_a_bad_gradient_of_such_a_step_is_left_to_the_flight_record_with_all_reasons(tmp_path):
    class Root(LogHead):
        def forward(self, x: Tensor) -> Tensor:
            return torch.sqrt(self.body(x) * 0.0)

    facts = one_step(tmp_path, seeded(Root), torch.ones(3, 4) * torch.ones(4, requires_grad=True))
    assert (facts.symptom, facts.birth, facts.replay.mechanism, facts.replay.reproduced) == (
        "inf_grad",
        None,
        "flight-record",
        False,
    )
    assert [r.partition(":")[0] for r in facts.replay.refused] == ["tape", "forward-only", "lines"]
    assert facts.replay.parity == "not replayed: a tensor with a graph came from a call that the tape cannot see"
    verdict = only(tmp_path).verdict
    assert verdict is not None and verdict.status == "unknown" and verdict.op is None


def test_a_bad_update_without_a_copy_says_why_there_is_none(tmp_path):
    with under_watch(tmp_path, copy_bytes=1):
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=float("inf"))
        for x in batches(2):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
    replay = incidents(tmp_path)[0].facts.replay
    assert replay.mechanism == "flight-record"
    assert "no copy of the parameters before the update" in replay.parity


def test_a_nan_that_does_not_come_again_is_said_to_be_so(tmp_path):
    class Once(LogHead):
        calls = itertools.count()  # a replay cannot put it back

        def forward(self, x: Tensor) -> Tensor:
            return self.body(x) * (float("nan") if next(self.calls) == 0 else 1.0)

    facts = one_step(tmp_path, seeded(Once), torch.ones(3, 4))
    assert (facts.replay.reproduced, facts.replay.parity, facts.birth) == (False, "not reproduced", None)


def test_an_infinity_on_purpose_in_an_output_is_no_incident(tmp_path):
    class Masked(LogHead):
        def forward(self, x: Tensor) -> Tensor:
            return self.body(x).masked_fill(torch.tensor([True, False, False, False]), -float("inf"))

    with under_watch(tmp_path, mode="dev"):
        model = seeded(Masked)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in batches(3):
            optimizer.zero_grad()
            torch.softmax(model(x), -1).pow(2).sum().backward()
            optimizer.step()
            with torch.no_grad():
                model(x)
    assert incidents(tmp_path) == []


@pytest.mark.parametrize("grad", [True, False])
def test_nothing_of_the_replay_stays_in_the_gradients(tmp_path, grad):
    model, data = seeded(LogHead), batches(2, bad=1)
    with under_watch(tmp_path):
        if grad:
            model(data[0]).mean().backward()
        kept = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        loss = model(data[1]).mean()
        if torch.isnan(loss):
            now = [p.grad for p in model.parameters()]
    assert len(incidents(tmp_path)) == 1
    assert all((a is None and b is None) or torch.equal(a, b) for a, b in zip(kept, now, strict=True))
