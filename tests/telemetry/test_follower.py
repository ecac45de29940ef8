"""The follower hands every reading on, whatever a receiver or the folder does, and its end is bounded."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from debugtracer.telemetry import follower as module
from debugtracer.telemetry.follower import Follower
from debugtracer.telemetry.reading import Reading
from tests.telemetry.runs import LiveRun, ended_run


class Kept:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self.words: list[str] = []

    def start(self) -> None:
        self.words.append("start")

    def take(self, reading: Reading) -> None:
        self.readings.append(reading)

    def end(self) -> None:
        self.words.append("end")


class Raising(Kept):
    """A receiver whose package fails."""

    def take(self, reading: Reading) -> None:
        raise KeyError("of a package")


def test_the_last_look_sees_what_was_written_last(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    live, kept = LiveRun(tmp_path), Kept()
    follower = Follower(live.path, [Raising(), kept], look_s=0.02)
    follower.start()
    while not kept.readings:
        time.sleep(0.01)
    live.train(7)
    follower.end()
    assert kept.words == ["start", "end"] and len(kept.readings) > 1
    assert {one.value for one in kept.readings[-1].samples if one.word == "steps"} == {7}
    assert capfd.readouterr().err.count("telemetry - KeyError: 'of a package'") == 1


def test_a_folder_that_is_gone_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run, kept = ended_run(tmp_path), Kept()
    shutil.rmtree(run)
    follower = Follower(run, [kept], look_s=0.01)
    follower.start()
    time.sleep(0.1)
    follower.end()
    assert kept.readings == [] and capfd.readouterr().err.count("debug-tracer: telemetry - ") == 1


def test_a_receiver_that_never_answers_does_not_keep_a_run_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(Kept):
        def take(self, reading: Reading) -> None:
            threading.Event().wait()

    monkeypatch.setattr(module, "END_S", 0.2)
    follower = Follower(ended_run(tmp_path), [Stuck()])
    follower.start()
    began = time.monotonic()
    follower.end()
    assert time.monotonic() - began < 2
