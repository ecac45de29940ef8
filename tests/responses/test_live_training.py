"""What of the training a response reads and changes: samples of the window, copies and snapshots that are good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.recorder.state.snapshot_ring import MAX_ROLLBACK_STEPS
from debugtracer.responses.live_training import LiveTraining
from debugtracer.session import Session
from tests.responses.loops import Loop, given
from tests.watching import under_watch


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with under_watch(tmp_path, "prod") as session:
        yield session


def training_of(session: Session) -> LiveTraining:
    assert session.responder is not None
    return session.responder.training


def test_the_samples_are_those_of_the_window_although_the_loader_is_ahead(session: Session) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # held: without one the backward would end the window
    loader = iter(DataLoader(TensorDataset(torch.randn(12, 4)), batch_size=3))
    (first,), _, _ = next(loader), next(loader), next(loader)
    model(first).mean().backward()
    assert optimizer.param_groups and training_of(session).samples() == (0, 1, 2)


def test_a_batch_that_was_changed_on_its_way_is_taken_for_the_last_one(session: Session) -> None:
    model = nn.Linear(4, 1)
    for (x,) in DataLoader(TensorDataset(torch.randn(6, 4)), batch_size=3):
        model((x * 2).clone()).mean().backward()
    assert set(training_of(session).samples() or ()) >= {3, 4, 5}


def test_without_a_loader_no_samples_are_known(session: Session) -> None:
    Loop().go(given(1, ()))
    assert training_of(session).samples() is None


def test_a_copy_or_a_snapshot_with_a_bad_value_is_no_good(session: Session) -> None:
    loop, training = Loop(), training_of(session)
    loop.go(given(12, ()))
    assert training.good_copy(loop.optimizer) is not None
    snapshot = training.good_snapshot()
    assert snapshot is not None and snapshot.step > 0
    for held in session.ring.held:
        held.copies[0].values[0].fill_(float("nan"))
    copy = session.copies.get(loop.optimizer)
    assert copy is not None
    next(iter(copy.state.values()))["exp_avg"].fill_(float("inf"))
    assert training.good_copy(loop.optimizer) is None
    assert training.good_snapshot() is None


def test_a_snapshot_of_long_ago_is_no_good(session: Session) -> None:
    loop = Loop()
    loop.go(given(12, ()))
    session.state.step += MAX_ROLLBACK_STEPS
    assert training_of(session).good_snapshot() is None


def test_without_a_run_folder_nothing_is_written(session: Session) -> None:
    assert "there is no run folder" in training_of(session).write_last_good(Loop().optimizer)
