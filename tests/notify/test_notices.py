"""Notices reach a real receiver, not too many of them, once from all ranks, and a dead or slow one costs nothing but a
line."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from debugtracer.notify.notice import Notice
from debugtracer.notify.notices import EVERY_S, Notices, notices
from debugtracer.notify.webhook import Webhook
from tests.forked import Programs
from tests.notify.receiver import receiving

PROGRAM = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(6, 4)
    if step >= 5:
        x[0, 0] = float("nan")
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
"""


class Clock:
    """Seconds set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def a_notice(severity: str = "error", last: bool = True, rank: int | None = 0) -> Notice:
    return Notice(severity, "stop", f"step 7, rank {rank} - the run was stopped", "runs/a", 7, rank, last)


def test_small_ones_are_not_and_many_are_counted() -> None:
    clock = Clock()
    with receiving() as receiver:
        told = Notices([Webhook(receiver.address)], "warning", clock)
        told.tell(a_notice("note"))
        told.tell(a_notice("warning"))
        for _ in range(5):
            told.tell(a_notice("warning", last=False))
        told.tell(a_notice("error"))
        clock.now += EVERY_S
        told.tell(a_notice("warning"))
    assert [one["held_back"] for one in receiver.got] == [0, 5, 0]


def test_a_receiver_that_is_gone_or_refuses_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with receiving(500) as receiver:
        told = Notices([Webhook(receiver.address)])
        told.tell(a_notice())
    told.tell(a_notice())
    assert capfd.readouterr().err.count("could not be posted to 127.0.0.1") == 1
    notices("", "", "note").tell(a_notice())


class Stuck:
    """A service that never answers."""

    name = "stuck"

    def send(self, notice: Notice, held_back: int) -> None:
        threading.Event().wait()


class Lying:
    """A package that raises what nobody expects."""

    name = "lying"

    def send(self, notice: Notice, held_back: int) -> None:
        raise KeyError("nothing")


def test_one_that_never_answers_holds_nobody_and_the_others_are_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("debugtracer.notify.notices.TIMEOUT_S", -0.5)  # half a second in all
    with receiving() as receiver:
        told = Notices([Stuck(), Lying(), Webhook(receiver.address)])
        began = time.monotonic()
        told.tell(a_notice(last=False))
        assert time.monotonic() - began < 0.3
        told.tell(a_notice())
        assert time.monotonic() - began < 2
        while len(receiver.got) < 2:
            time.sleep(0.01)
    assert capfd.readouterr().err.count("could not be posted to lying") == 1


def test_what_all_ranks_do_together_is_told_once() -> None:
    with receiving() as receiver:
        told = Notices([Webhook(receiver.address)])
        told.tell(a_notice(rank=1))
        told.tell(a_notice(rank=None))
    assert [one["text"] for one in receiver.got] == ["debug-tracer: step 7, rank None - the run was stopped"]


def test_a_stop_and_the_end_are_told(tmp_path: Path, programs: Programs) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    environment = os.environ | {"DEBUG_TRACER_PAUSE_S": "1"}
    with receiving() as receiver:
        words = ["run", "--mode", "prod", "--webhook", receiver.address, "--out", "runs", "train.py"]
        done = subprocess.run(
            [*programs.tool, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 3, done.stderr
    assert [one["event"] for one in receiver.got] == ["pause", "stop", "ended"]
    _, stop, end = receiver.got
    assert "the run was stopped: it had waited for a person" in stop["text"]
    assert "was stopped by debug-tracer - " in end["text"] and "non-finite" in end["text"]
