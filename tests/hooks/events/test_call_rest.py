"""Root calls and batches at rest: torch has its own functions back, the gate still judges each step, and what begins
an evaluation or an incident is seen again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

from debugtracer.hooks.events import call_rest
from debugtracer.recorder.gate import resting_steps
from debugtracer.recorder.governor import FIRST_STEPS, LIMITS_S, WORDS, Part
from debugtracer.session import Session
from debugtracer.trace.window import GRAD_L2, WAIT_S
from tests.watching import incidents, under_watch

TRAIN = nn.Module.train
CALL, NEXT, DRAW = nn.Module.__call__, _BaseDataLoaderIter.__next__, _BaseDataLoaderIter._next_index


class Loop:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.data = TensorDataset(torch.randn(64, 4))

    def go(self, steps: int, spoil: bool = False) -> None:
        loader = iter(DataLoader(self.data, batch_size=1))
        for _ in range(steps):
            (x,) = next(loader)
            self.optimizer.zero_grad()
            loss = self.model(x).square().mean()
            (loss * float("nan") if spoil else loss).backward()
            self.optimizer.step()

    def to_rest(self, session: Session) -> None:
        self.go(FIRST_STEPS)
        session.state.own_s += 100.0
        self.go(6)


def calls_are_torchs() -> bool:
    return (nn.Module.__call__, _BaseDataLoaderIter.__next__, _BaseDataLoaderIter._next_index) == (CALL, NEXT, DRAW)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(resting_steps, "MOST", 2)
    with under_watch(tmp_path / "runs", cost=0.0, inspect_steps=0) as watched:
        yield watched


def test_deep_in_debt_root_calls_and_batches_are_left_to_torch_and_the_numbers_go_on(session: Session) -> None:
    loop = Loop()
    loop.to_rest(session)
    assert session.events.rests()
    assert session.events.calls.rests
    assert calls_are_torchs()
    recent = session.incidents.findings.recent
    before, norms, waits = session.state.step, list(recent[GRAD_L2]), list(recent[WAIT_S])
    loop.go(7)
    assert session.state.step == before + 7
    assert session.state.rested[WORDS[Part.CALLS]] > 0
    assert list(recent[GRAD_L2]) != norms
    assert list(recent[WAIT_S]) == waits


def test_above_their_limit_they_are_seen_again_while_observers_rest(session: Session) -> None:
    loop = Loop()
    loop.to_rest(session)
    session.governor.balance_s = (LIMITS_S[Part.CALLS] + LIMITS_S[Part.OBSERVERS]) / 2
    loop.go(6)
    assert session.events.rests()
    assert not session.events.calls.rests
    assert not calls_are_torchs()


def test_a_bad_loss_wakes_all_and_is_an_incident(session: Session, tmp_path: Path) -> None:
    loop = Loop()
    loop.to_rest(session)
    loop.go(1, spoil=True)
    assert not session.events.calls.rests
    assert _BaseDataLoaderIter.__next__ is not NEXT
    assert len(incidents(tmp_path / "runs")) == 1


def test_an_evaluation_is_seen_from_its_begin(session: Session) -> None:
    loop = Loop()
    loop.to_rest(session)
    loop.model.train()
    assert session.events.calls.rests
    loop.model.eval()
    assert not session.events.calls.rests
    assert nn.Module.__call__ is not CALL


def evaluate(loop: Loop) -> None:
    loop.model.eval()
    with torch.no_grad():
        nn.functional.mse_loss(loop.model(torch.ones(8, 4)), torch.zeros(8, 1))
    loop.model.train()


def test_an_evaluation_now_and_then_is_heard_each_time(session: Session) -> None:
    loop, changes = Loop(), []
    loop.to_rest(session)
    session.events.calls.on_change(changes.append)
    for _ in range(3):
        evaluate(loop)
        loop.go(call_rest.WAITS + 4)
    assert changes == [False, True] * 3


def test_where_few_steps_lie_between_evaluations_one_in_so_many_is_seen(session: Session) -> None:
    loop, heard, changes = Loop(), [], []
    loop.to_rest(session)
    session.observed_run.mode_calls.on_call(heard.append)
    session.events.calls.on_change(changes.append)
    rounds = 2 * call_rest.SEEN_OF
    for _ in range(rounds):
        evaluate(loop)
        loop.go(4)
    assert 4 <= len(heard) < rounds / 2
    assert changes[:3] == [False, True, False]
    while not session.events.calls.rests:
        evaluate(loop)
        loop.go(4)
    assert calls_are_torchs()
    assert nn.Module.train is TRAIN
    session.events.wake()
    assert nn.Module.train is not TRAIN


def test_at_most_so_many_steps_in_a_row_are_not_heard(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_rest, "MOST_UNSEEN", 12)
    loop = Loop()
    loop.to_rest(session)
    calls = session.events.calls
    while calls.until is None:
        evaluate(loop)
        loop.go(2)
    unheard = session.state.step
    while calls.rests:
        evaluate(loop)
        loop.go(1)
    assert session.state.step - unheard <= 12 + 2


def test_batches_fetched_unseen_are_not_taken_for_others(session: Session) -> None:
    loop = Loop()
    loop.to_rest(session)
    loader = iter(DataLoader(loop.data, batch_size=2))
    next(loader)
    next(loader)
    session.events.wake()
    (x,) = next(loader)
    hit = session.batches.find(x)
    assert hit is not None
    assert hit[0].indices == (4, 5)


def test_torch_has_its_functions_back_at_the_end_of_a_run_that_rests(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs", cost=0.0, inspect_steps=0) as session:
        Loop().to_rest(session)
    assert calls_are_torchs()
    assert nn.Module.train is TRAIN
    assert not nn.modules.module._global_forward_hooks
