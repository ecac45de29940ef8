"""A run that cannot go on by itself waits for a person, where it was told to."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from debugtracer.errors import StoppedByTracer
from debugtracer.responses import control
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.schema import CONTROL
from tests.responses.loops import Loop, actions, given
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "WAIT_S", 0.01)


def test_a_person_lets_it_go_on(tmp_path: Path) -> None:
    def say(word: str) -> None:
        (open_trace(tmp_path).path / CONTROL).write_text(word)

    waiting = threading.Timer(3.0, say, ["resume"])
    waiting.start()
    with under_watch(tmp_path, "prod", pause_s=60.0):
        Loop().go(given(14, (6, 7, 8)))
    waiting.join()
    done = actions(tmp_path)
    assert [a.action for a in done] == ["skip-update", "skip-update", "pause"]
    assert "goes on without this step at a person's word" in done[-1].reason
    assert (open_trace(tmp_path).path / "last-good" / "rank-0.pt").exists()


def test_nobody_comes(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val", pause_s=0.2), pytest.raises(StoppedByTracer):
        Loop().go(given(14, (6, 7, 8)))
    assert [a.action for a in actions(tmp_path)] == ["skip-update", "skip-update", "pause", "stop"]
    assert "nobody let it go on" in actions(tmp_path)[-2].reason


def test_without_the_setting_it_stops_at_once(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        Loop().go(given(14, (6, 7, 8)))
    assert actions(tmp_path)[-1].action == "stop"
