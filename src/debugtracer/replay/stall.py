"""A replay that waits for something that will never come (a queue, a lock, another process) is broken off instead of
hanging the training."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from time import process_time, thread_time
from types import FrameType

TICK_S = 3.0  # seconds between two ticks (ours)
STILL = 5  # ticks in a row without work of this process after which it counts as waiting (ours: 15 seconds)
# ticks in a row without work of this thread alone, while others of the process work (ours: one minute; they may work
# for it)
STILL_ALONE = 20
WORK_S = 0.05  # CPU seconds per tick that count as work (ours; an idle Python process takes none)


class Stalled(BaseException):
    """Raised inside the user's code that waits. No Exception, so that their `except Exception` does not swallow it."""


@contextlib.contextmanager
def broken_off() -> Iterator[None]:
    """Raise Stalled in the body when nothing is done for TICK_S * STILL s (by this thread: TICK_S * STILL_ALONE).

    Only in the main thread, and only where nobody uses the timer signal: elsewhere nothing is watched.
    """
    if not free():
        yield
        return
    watch = StallWatch()
    before = signal.signal(signal.SIGALRM, watch.on_timer)
    signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
    try:
        yield
    finally:
        watch.over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def free() -> bool:
    """True if the timer is not in use, and signals arrive in this thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class StallWatch:
    """Compares CPU time from look to look: of the process, and of this thread, since a program may keep other threads
    busy for ever."""

    def __init__(self) -> None:
        self.clocks = (process_time, thread_time)
        self.worked_s = [clock() for clock in self.clocks]
        self.still = [0, 0]
        self.over = False

    def on_timer(self, number: int, frame: FrameType | None) -> None:
        """Called by the timer; raises Stalled when nothing has moved for too long."""
        for which, clock in enumerate(self.clocks):
            now = clock()
            self.still[which] = 0 if now - self.worked_s[which] >= WORK_S else self.still[which] + 1
            self.worked_s[which] = now
        if not self.over and (self.still[0] >= STILL or self.still[1] >= STILL_ALONE):
            raise Stalled
