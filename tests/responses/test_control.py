"""A person's word in a file: stop with a state that can be gone on from, wait, go on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.errors import StoppedByTracer
from debugtracer.responses import control
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.saved_state import newest
from debugtracer.trace.store.schema import CONTROL
from tests.responses.loops import a_model, actions, adam
from tests.watching import same_bits, under_watch


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "POLL_S", 0.0)
    monkeypatch.setattr(control, "WAIT_S", 0.01)


def train(out: Path, words: dict[int, str], later: str = "") -> list[torch.Tensor]:
    """A loop that writes words into the file of its run at some steps, and `later` a while after them."""
    model = a_model()
    optimizer = adam(model.parameters())
    made = torch.Generator().manual_seed(5)
    loader: DataLoader[Any] = DataLoader(TensorDataset(torch.randn(90, 4, generator=made)), batch_size=6, shuffle=True)
    for step, (x,) in enumerate(loader):
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
        optimizer.step()
        if step in words:
            run = open_trace(out).path
            (run / CONTROL).write_text(words[step] + "\n")
            if later:
                threading.Timer(0.3, (run / CONTROL).write_text, [later]).start()
    return [t.detach().clone() for t in model.parameters()]


def test_stop_saves_the_state_of_the_step(tmp_path: Path) -> None:
    torch.manual_seed(0)
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        train(tmp_path, {6: "stop"})
    (done,) = actions(tmp_path)
    assert (done.action, done.step) == ("stop", 7)
    assert "a person has asked for it; the run was stopped; its last good state is" in done.reason
    run = open_trace(tmp_path).path
    assert newest(run)[0] == 7 and not (run / CONTROL).exists()


def test_a_run_that_was_paused_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    bare = train(tmp_path, {})
    with under_watch(tmp_path, "prod"):
        watched = train(tmp_path, {6: "pause"}, later="resume")
    assert [a.action for a in actions(tmp_path)] == ["pause", "resume"]
    assert all(same_bits(a, b) for a, b in zip(watched, bare, strict=True))


def test_a_run_that_nobody_comes_to_stops(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val", pause_s=0.1), pytest.raises(StoppedByTracer):
        train(tmp_path, {6: "pause"})
    assert [a.action for a in actions(tmp_path)] == ["pause", "stop"]


def test_other_words_are_no_words(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"):
        train(tmp_path, {3: "resume", 6: "rm -rf"})
    assert actions(tmp_path) == []


def test_a_word_that_nobody_knows_is_said_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with under_watch(tmp_path, "prod"):
        train(tmp_path, {6: "halt"})
    said = capfd.readouterr().err
    assert said.count("'halt' was written into") == 1 and "expected one of stop, pause, resume" in said


def test_a_stop_that_was_asked_for_is_not_said_to_be_a_bad_number(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        train(tmp_path, {6: "stop"})
    said = capfd.readouterr().err
    assert "a person has asked for it - the run was stopped" in said and "finite numbers" not in said
