"""The loader gives the bad batch again when the tape was refused (mode dev)."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer import session
from debugtracer.errors import StoppedByTracer
from debugtracer.recorder.tape import step_tape as tape
from debugtracer.settings import Mode, Settings
from debugtracer.trace.events import Incident
from debugtracer.trace.store.reader import open_trace

BAD = 37


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step is too long for the tape."""
    monkeypatch.setattr(tape, "MAX_ENTRIES", 2)


def loop(guard: bool) -> nn.Module:
    torch.manual_seed(0)
    x = torch.rand(64, 4) + 0.1
    x[BAD] = 0.0
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters())
    try:
        for (a,) in DataLoader(TensorDataset(x), batch_size=8, shuffle=True):
            z = a / a.sum(1, keepdim=True)
            loss = model(z).pow(2).mean()
            if guard and not torch.isfinite(loss):
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    finally:
        assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    return model


def incident(out: Path, guard: bool) -> Incident:
    running = session.start(Settings(out=out, mode=Mode.DEV))
    try:
        with pytest.raises(StoppedByTracer):
            loop(guard)
        folder = running.output.folder
    finally:
        session.stop()
    assert folder is not None
    found = [e for e in open_trace(folder).events() if isinstance(e, Incident)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("guard", [False, True])
def test_a_refused_tape_is_followed_by_the_same_batch_under_the_tracer(
    tmp_path: Path, refused: None, guard: bool
) -> None:
    found = incident(tmp_path, guard)
    assert found.facts.replay is not None
    assert found.facts.replay.mechanism == "re-yield"
    assert found.verdict is not None
    assert (found.verdict.op, found.verdict.sample_index) == ("aten::div", (BAD,))
    assert found.facts.birth is not None
    assert found.facts.birth.frame is not None
    assert found.facts.birth.frame.code == "z = a / a.sum(1, keepdim=True)"
    assert any("torch calls outside modules" in why for why in found.facts.replay.refused)


def test_a_loop_that_ends_before_the_next_fetch_is_still_reported(tmp_path: Path, refused: None) -> None:
    running = session.start(Settings(out=tmp_path, mode=Mode.DEV))
    try:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        before = [p.detach().clone() for p in model.parameters()]
        for (a,) in DataLoader(TensorDataset(torch.zeros(2, 2)), batch_size=2):
            b = a + 0.0
            model(b / b.sum()).sum().backward()
            optimizer.step()
            break
        held = all(torch.equal(p, b) for p, b in zip(model.parameters(), before, strict=True))
        folder = running.output.folder
    finally:
        session.stop()
    assert held
    assert folder is not None
    found = [e for e in open_trace(folder).events() if isinstance(e, Incident)]
    assert [e.facts.replay.mechanism for e in found if e.facts.replay is not None] == ["flight-record"]


def refused_run(out: Path, body: str) -> tuple[list[str], list[Incident], bool]:
    """Runs a loop with a refused tape in mode dev: the mechanisms of its incidents, the incidents, and whether the
    weights stayed finite."""
    torch.manual_seed(0)
    x = torch.rand(64, 4) + 0.1
    x[BAD] = 0.0
    model = nn.Linear(4, 4, bias=False)
    scope = {"torch": torch, "x": x, "model": model, "loader": DataLoader(TensorDataset(x), batch_size=8), "done": []}
    scope["optimizer"] = torch.optim.SGD(model.parameters(), 0.01)
    running = session.start(Settings(out=out, mode=Mode.DEV))
    try:
        with pytest.raises(StoppedByTracer):
            exec(compile(body, __file__, "exec"), scope)
        folder = running.output.folder
    finally:
        session.stop()
    assert folder is not None
    found = [e for e in open_trace(folder).events() if isinstance(e, Incident)]
    finite = bool(torch.isfinite(model.weight).all())
    return [e.facts.replay.mechanism for e in found if e.facts.replay is not None], found, finite


BAD_GRADIENT = """
for (a,) in loader:
    b = a * 1.0
    loss = model(b).pow(2).sum(1).sqrt().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

NEW_ITERATOR = """
for epoch in range(50):
    for n, (a,) in enumerate(loader):
        b = a / a.sum(1, keepdim=True)
        loss = model(b).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        if n == 37 // 8:
            break
"""

NO_FETCH = """
(a,) = list(loader)[37 // 8]
for step in range(50):
    b = a / a.sum(1, keepdim=True)
    loss = model(b).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def test_a_bad_gradient_is_held_and_found_in_the_extra_iteration(tmp_path: Path, refused: None) -> None:
    mechanisms, found, finite = refused_run(tmp_path, BAD_GRADIENT)
    assert (mechanisms, finite) == (["re-yield"], True)
    assert found[0].verdict is not None
    assert (found[0].verdict.op, found[0].verdict.direction, found[0].verdict.sample_index) == (
        "aten::sqrt",
        "backward",
        (BAD,),
    )


@pytest.mark.parametrize("body", [NEW_ITERATOR, NO_FETCH], ids=["another iterator", "no fetch at all"])
def test_a_loop_that_never_asks_for_the_batch_again_is_stopped_and_not_left_without_updates(
    tmp_path: Path, refused: None, body: str
) -> None:
    mechanisms, _, finite = refused_run(tmp_path, body)
    assert (mechanisms, finite) == (["flight-record"], True)
