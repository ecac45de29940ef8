"""Notices reach a real receiver, not too many of them, and a dead one costs nothing but a line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.notify.webhook import EVERY_S, Notice, Webhook, check_address
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


def a_notice(severity: str = "error", last: bool = True) -> Notice:
    return Notice(severity, "stop", "step 7, rank 0 - the run was stopped", "runs/a", 7, 0, last)


def test_what_is_posted() -> None:
    with receiving() as receiver:
        Webhook(receiver.address).tell(a_notice())
    (told,) = receiver.got
    assert told == {
        "schema": "debug-tracer.notice/1",
        "severity": "error",
        "event": "stop",
        "text": "debug-tracer: step 7, rank 0 - the run was stopped",
        "run": "runs/a",
        "step": 7,
        "rank": 0,
        "held_back": 0,
    }


def test_small_ones_are_not_and_many_are_counted() -> None:
    clock = Clock()
    with receiving() as receiver:
        webhook = Webhook(receiver.address, "warning", clock)
        webhook.tell(a_notice("note"))
        webhook.tell(a_notice("warning"))
        for _ in range(5):
            webhook.tell(a_notice("warning", last=False))
        webhook.tell(a_notice("error"))
        clock.now += EVERY_S
        webhook.tell(a_notice("warning"))
    assert [told["held_back"] for told in receiver.got] == [0, 5, 0]


def test_a_receiver_that_is_gone_or_refuses_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with receiving(500) as receiver:
        webhook = Webhook(receiver.address)
        webhook.tell(a_notice())
    webhook.tell(a_notice())
    assert capfd.readouterr().err.count("could not be posted to 127.0.0.1") == 1
    Webhook("").tell(a_notice())


@pytest.mark.parametrize("address", ["ftp://a/b", "example.org", "http://", "http://[", "x" * 9000])
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match=r"^webhook is .{,90}; expected an address"):
        check_address(address, "webhook")


def test_a_stop_and_the_end_are_told(tmp_path: Path, programs: Programs) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    with receiving() as receiver:
        words = ["run", "--mode", "prod", "--webhook", receiver.address, "--out", "runs", "train.py"]
        done = subprocess.run([*programs.tool, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert [told["event"] for told in receiver.got] == ["stop", "ended"]
    assert "the run was stopped; its last good state is" in receiver.got[0]["text"]
    assert "was stopped by debug-tracer" in receiver.got[1]["text"]
