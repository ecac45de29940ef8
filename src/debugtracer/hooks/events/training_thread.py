"""The thread that trains: the first one that calls a module with a graph or a backward. Others are ignored, so that two
loops never mix."""

from __future__ import annotations

import threading
from collections.abc import Callable


class TrainingThread:
    """One per process. `here()` costs a comparison."""

    def __init__(self) -> None:
        self.owner: int | None = None
        self.home = threading.get_ident()
        """The thread the session was started in."""
        self.listeners: list[Callable[[int, int], None]] = []

    def on_claim(self, listener: Callable[[int, int], None]) -> None:
        """Call the listener once, with the training thread and the one the session was started in."""
        self.listeners.append(listener)

    def here(self) -> bool:
        """True in the training thread; the first caller becomes it."""
        me = threading.get_ident()
        if self.owner is None:
            self.owner = me
            for listener in self.listeners:
                listener(me, self.home)
        return self.owner == me

    def likely(self) -> bool:
        """True in the training thread, and before it is known in the one the session was started in."""
        return (self.owner or self.home) == threading.get_ident()

    def elsewhere(self) -> bool:
        """True in a thread that is known not to be the training thread."""
        return self.owner is not None and self.owner != threading.get_ident()

    def reset(self) -> None:
        """Reset the owner: a forked child may train in any thread."""
        self.owner, self.home = None, threading.get_ident()
