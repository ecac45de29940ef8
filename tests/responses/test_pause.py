"""A run that cannot go on by itself waits for a person, where it was told to."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import pytest

from debugtracer.errors import StoppedByTracer
from debugtracer.responses import attendance, control
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.schema import ATTENDED, CONTROL
from tests.responses.loops import Loop, actions, given
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "WAIT_S", 0.01)
    monkeypatch.setattr(attendance, "at_terminal", lambda: False)  # tests may be typed at one


def test_a_person_lets_it_go_on(tmp_path: Path) -> None:
    def say(run: Path) -> None:
        while not (run / "last-good" / "rank-0.pt").exists():  # written before it waits
            time.sleep(0.01)
        (run / CONTROL).write_text("resume")

    loop, batches = Loop(), given(14, (6, 7, 8))
    with under_watch(tmp_path, "prod", pause_s=60.0):
        loop.go(batches[:6])
        waiting = threading.Thread(target=say, args=[open_trace(tmp_path).path])
        waiting.start()
        loop.go(batches[6:])
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


def test_a_program_that_catches_the_stop_is_not_paused_at_every_step(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val", pause_s=0.2):
        loop = Loop()
        for batch in given(20, tuple(range(6, 20))):
            with contextlib.suppress(SystemExit):
                loop.go([batch])
    assert [a.action for a in actions(tmp_path)].count("pause") == 1


@pytest.mark.parametrize("mode", ["val", "prod"])
def test_unattended_it_stops_at_once_and_leaves_its_state(tmp_path: Path, mode: str) -> None:
    with under_watch(tmp_path, mode), pytest.raises(StoppedByTracer):
        Loop().go(given(14, (6, 7, 8)))
    assert [a.action for a in actions(tmp_path)] == ["skip-update", "skip-update", "stop"]
    assert (open_trace(tmp_path).path / "last-good" / "rank-0.pt").exists()


@pytest.mark.parametrize("mode", ["val", "prod"])
def test_with_its_page_open_three_bad_losses_pause_it(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attendance, "COMES_S", 0.3)
    loop, batches = Loop(), given(14, (6, 7, 8))
    with under_watch(tmp_path, mode), pytest.raises(StoppedByTracer):
        loop.go(batches[:6])
        (open_trace(tmp_path).path / ATTENDED).touch()
        loop.go(batches[6:])
    assert [a.action for a in actions(tmp_path)] == ["skip-update", "skip-update", "pause", "stop"]
    assert (open_trace(tmp_path).path / "last-good" / "rank-0.pt").exists()
    assert "the run waits - expected `resume` or `stop` in" in capfd.readouterr().err


def test_a_page_that_was_closed_since_leaves_the_usual_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    with under_watch(tmp_path, "prod") as session:
        assert session.responder is not None
        training = session.responder.training
        monkeypatch.setattr(training, "wait_for_word", lambda seconds: waited.append(seconds) or "stop")
        assert training.wait() == "stop" and waited == [attendance.COMES_S]
