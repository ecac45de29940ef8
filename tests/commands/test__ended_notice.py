"""The last notice says how the run ended and what its verdict says; a run that cannot be read is told all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.commands._ended_notice import summary, tell_end
from debugtracer.settings import Settings
from debugtracer.testing import a_trace
from tests.notify.receiver import receiving
from tests.telemetry.runs import ended_run


def test_it_says_what_the_verdict_says(tmp_path: Path) -> None:
    with receiving() as receiver:
        tell_end(ended_run(tmp_path), 3, Settings(webhook=receiver.address))
    (told,) = receiver.got
    assert told["text"].endswith("run run-1 was stopped by debug-tracer - every label of the batch is ignored")
    assert (told["severity"], told["event"]) == ("error", "ended")


def test_a_healthy_end_is_a_warning_without_a_verdict(tmp_path: Path) -> None:
    with receiving() as receiver:
        tell_end(a_trace(tmp_path, exit_code=0, stopped=False), 0, Settings(webhook=receiver.address))
    assert receiver.got[0]["text"] == "debug-tracer: run run-1 ended with status 0"
    assert receiver.got[0]["severity"] == "warning"


def test_a_folder_that_is_gone_is_told_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    with receiving() as receiver:
        tell_end(tmp_path / "gone", 1, Settings(webhook=receiver.address))
    assert receiver.got[0]["text"] == "debug-tracer: run gone ended with status 1"
    assert summary(tmp_path / "gone") is None
