"""Writing in a thread of our own, one thing at a time: training goes on while the disk works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, thread_time

NAME = "debug-tracer-state"


def beside_training() -> bool:
    """Whether this is such a thread: what is saved and read here is no checkpoint of the program's."""
    return threading.current_thread().name == NAME


class Background:
    """One per writer. In a forked child nothing is under way."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.until: float | None = None
        """The time after which what is under way is waited for no more; None: always."""
        self.error: Exception | None = None
        self.cpu_s = 0.0
        """CPU seconds of the last thing that was done."""
        self.succeeded = False
        """Whether that was done well."""

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, do: Callable[[], object], limit_s: float | None = None) -> None:
        """Begin to do something; at the end of the program Python waits for it, or, where it depends on other ranks,
        `finish` does for so long. Raises TimeoutError where what is under way has taken longer than its limit: two
        writers never work side by side."""
        self.finish()
        if self.busy:
            raise TimeoutError("what was begun before is still under way")
        self.until = None if limit_s is None else monotonic() + limit_s
        self.thread = threading.Thread(target=self.run, args=(do,), name=NAME, daemon=limit_s is not None)
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
        """Wait for what is under way; what takes longer than its limit is left alone, and stays under way."""
        if self.thread is None:
            return
        self.thread.join(None if self.until is None else max(0.0, self.until - monotonic()))
        if self.thread.is_alive():
            self.error, self.succeeded = TimeoutError("it was not written in time"), False
        else:
            self.thread = None

    def failure(self) -> Exception | None:
        """What was raised since the last question."""
        found, self.error = self.error, None
        return found
