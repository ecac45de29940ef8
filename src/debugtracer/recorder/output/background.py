"""Writing in a thread of our own, one thing at a time: training goes on while the disk works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import thread_time


class Background:
    """One per writer. In a forked child nothing is under way."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.error: Exception | None = None
        self.cpu_s = 0.0
        """CPU seconds of the last thing that was done."""
        self.succeeded = False
        """Whether that was done well."""

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, do: Callable[[], object]) -> None:
        """Begin to do something; at the end of the program Python waits for it."""
        self.finish()
        self.thread = threading.Thread(target=self.run, args=(do,), name="debug-tracer-state")
        self.thread.start()

    def run(self, do: Callable[[], object]) -> None:
        """Do it, and keep what it raised."""
        begin = thread_time()
        try:
            do()
            self.succeeded = True
        except Exception as error:
            self.error, self.succeeded = error, False
        self.cpu_s = thread_time() - begin

    def finish(self) -> None:
        """Wait for what is under way."""
        if self.thread is not None:
            self.thread.join()
        self.thread = None

    def failure(self) -> Exception | None:
        """What was raised since the last question."""
        found, self.error = self.error, None
        return found
