"""The heartbeat of a rank: writes its stack to last-words.txt at an exception, a fatal signal, or while it waits."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from types import FrameType

from debugtracer.errors import guarded
from debugtracer.recorder.output.fatal_signals import FatalSignals
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.last_words import LAST_WORDS, Entry, section

WAITS_S = 10.0  # seconds in one place before it is written down (ours: no healthy collective takes them)


class RankHeartbeat:
    """Only where there are several ranks. A signal handler in C writes for a thread that is stuck in C; handlers of the
    program still run after it."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.signals = FatalSignals()
        self.fd = -1
        """Never closed: a handler in C may write to it until the process is gone."""
        self.thread = 0
        self.stack: tuple[Entry, ...] = ()
        self.since = 0.0
        self.waits = False

    @guarded("recorder.output.rank_heartbeat: open")
    def open(self, folder: Path) -> None:
        """Open last-words.txt and the fatal signals; called from the training thread."""
        self.fd = os.open(folder / LAST_WORDS, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        self.thread = threading.get_ident()
        if not faulthandler.is_enabled():
            faulthandler.enable(self.fd)
        self.signals.keep(signal.SIGTERM, file=self.fd, all_threads=True, chain=True)

    @guarded("recorder.output.rank_heartbeat: watch")
    def watch(self) -> None:
        """Check every few seconds, in the writer's thread, whether the training thread stands still."""
        frame = sys._current_frames().get(self.thread) if self.fd >= 0 else None
        stack = tuple(entries(frame)) if frame is not None else ()
        if stack != self.stack:
            if self.waits:
                self.say("moved")
            self.stack, self.since, self.waits = stack, monotonic(), False
        elif stack and not self.waits and monotonic() - self.since >= WAITS_S:
            self.waits = True
            self.say("waits", stack)

    @guarded("recorder.output.rank_heartbeat: died")
    def died(self, error: BaseException) -> None:
        """Record the program's own exception, or Ctrl-C."""
        pairs = [(f.f_code, line) for f, line in traceback.walk_tb(error.__traceback__)][::-1]
        stack = tuple(Entry(code.co_filename, line, code.co_name) for code, line in pairs)
        self.say("crashed", stack, f"{type(error).__name__}: {str(error)[:500]}")

    def say(self, how: str, stack: tuple[Entry, ...] = (), message: str = "") -> None:
        """Append one section; it is with the operating system when this returns."""
        if self.fd >= 0:
            os.write(self.fd, section(how, self.state.step, stack, message).encode(errors="replace"))

    @guarded("recorder.output.rank_heartbeat: reset")
    def reset(self) -> None:
        """Reset in a forked child, which SIGTERM may end as it likes: the inherited handler then writes nowhere."""
        if self.fd >= 0:
            # handlers of the program stay as they are
            self.signals.keep(signal.SIGTERM, file=os.open(os.devnull, os.O_WRONLY), chain=True)
        self.fd, self.stack, self.waits = -1, (), False


def entries(frame: FrameType | None) -> Iterator[Entry]:
    """A live stack, innermost first."""
    while frame is not None:
        yield Entry(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back
