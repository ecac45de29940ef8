"""Keeps where this rank stands in last-words.txt, so that a hang can be told from the outside: by its own exception, by a fatal signal, or while it waits."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from types import FrameType

from debugtracer.errors import guarded
from debugtracer.recorder.fatal_signals import FatalSignals
from debugtracer.trace.last_words import LAST_WORDS, Entry, section

WAITS_S = 10.0  # seconds in one place before it is written down (ours: no healthy collective takes them)


class Stand:
    """Only where there are several ranks. A signal handler in C writes for a thread that is stuck in C; handlers of the program still run after it."""

    def __init__(self) -> None:
        self.signals = FatalSignals()
        self.fd = -1
        """Never closed: a handler in C may write to it until the process is gone."""
        self.thread = 0
        self.updates: Callable[[], int] = lambda: 0
        self.stack: tuple[Entry, ...] = ()
        self.since = 0.0
        self.waits = False

    @guarded("recorder.stand: open")
    def open(self, folder: Path) -> None:
        """From the training thread."""
        self.fd = os.open(folder / LAST_WORDS, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        self.thread = threading.get_ident()
        if not faulthandler.is_enabled():
            faulthandler.enable(self.fd)
        self.signals.keep(signal.SIGTERM, file=self.fd, all_threads=True, chain=True)

    @guarded("recorder.stand: look")
    def look(self) -> None:
        """From the writer's thread, every few seconds: has the training thread stood still, in a collective or elsewhere?"""
        frame = sys._current_frames().get(self.thread) if self.fd >= 0 else None
        stack = tuple(entries(frame)) if frame is not None else ()
        if stack != self.stack:
            if self.waits:
                self.say("moved")
            self.stack, self.since, self.waits = stack, monotonic(), False
        elif stack and not self.waits and monotonic() - self.since >= WAITS_S:
            self.waits = True
            self.say("waits", stack)

    @guarded("recorder.stand: died")
    def died(self, error: BaseException) -> None:
        """The program's own exception, or Ctrl-C."""
        pairs = [(f.f_code, line) for f, line in traceback.walk_tb(error.__traceback__)][::-1]
        stack = tuple(Entry(code.co_filename, line, code.co_name) for code, line in pairs)
        self.say("crashed", stack, f"{type(error).__name__}: {str(error)[:500]}")

    def say(self, how: str, stack: tuple[Entry, ...] = (), message: str = "") -> None:
        """Appends one section; it is with the operating system when this returns."""
        if self.fd >= 0:
            os.write(self.fd, section(how, self.updates(), stack, message).encode(errors="replace"))

    @guarded("recorder.stand: forget")
    def forget(self) -> None:
        """A forked child may be ended by SIGTERM as it likes: its handler, which it has from its parent, writes nowhere."""
        if self.fd >= 0:
            self.signals.keep(signal.SIGTERM, file=os.open(os.devnull, os.O_WRONLY), chain=True)  # handlers of the program stay as they are
        self.fd, self.stack, self.waits = -1, (), False


def entries(frame: FrameType | None) -> Iterator[Entry]:
    """A live stack, innermost first."""
    while frame is not None:
        yield Entry(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
