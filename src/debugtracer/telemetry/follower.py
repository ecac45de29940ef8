"""A thread that looks at a run now and then, and hands each reading on."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from debugtracer.telemetry.reading import Reading
from debugtracer.telemetry.run_reader import RunReader

LOOK_S = 2.0  # seconds between two looks at least: what is written reaches the disk about as often
SHARE = 0.02  # of the time of one core, at most, that looking takes (ours)
END_S = 8.0  # seconds that the end of a run may wait for the last look


class Receiver(Protocol):
    """Takes readings. `start` is called before the first one, in the thread that starts the follower; the others in the
    follower's own."""

    def start(self) -> None:
        """Begin; a receiver may start threads here and nowhere before."""

    def take(self, reading: Reading) -> None:
        """Take one reading; a slow receiver keeps its own queue."""

    def end(self) -> None:
        """Hand on what is left, in a bounded time."""


class Follower:
    """One run, followed until `end`."""

    def __init__(self, path: Path, receivers: Sequence[Receiver], look_s: float = LOOK_S) -> None:
        """Take the run folder and who is told."""
        self.reader, self.receivers, self.look_s = RunReader(path), receivers, look_s
        self._ending = threading.Event()
        self._failed = False
        self._thread = threading.Thread(target=self._follow, name="debug-tracer telemetry", daemon=True)

    def start(self) -> None:
        """Begin to look; threads of ours start here, when the program was forked off."""
        for receiver in self.receivers:
            self._guarded(receiver.start)
        self._thread.start()

    def end(self) -> None:
        """Look once more, tell every receiver, and wait for neither any longer than END_S."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(END_S)

    def _follow(self) -> None:
        while True:
            ended = self._ending.is_set()
            began = time.monotonic()
            self._look()
            if ended:
                break
            self._ending.wait(max(self.look_s, (time.monotonic() - began) / SHARE))
        for receiver in self.receivers:
            self._guarded(receiver.end)

    def _look(self) -> None:
        try:
            reading = self.reader.read()
        except Exception as error:  # a folder that is written, damaged or gone: the next look may see more
            self._told(error)
            return
        for receiver in self.receivers:
            self._guarded(functools.partial(receiver.take, reading))

    def _guarded(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as error:  # what a package does of its own; the others go on
            self._told(error)

    def _told(self, error: Exception) -> None:
        if not self._failed:
            self._failed = True
            print(
                f"debug-tracer: telemetry - {type(error).__name__}: {error} - this look gave nothing; training and "
                "further looks go on.",
                file=sys.stderr,
                flush=True,
            )
