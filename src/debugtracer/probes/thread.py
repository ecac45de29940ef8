"""The thread that trains: the first one that calls a module with a graph or a backward. Others pass unseen, so that two loops never mix."""

from __future__ import annotations

import threading
from collections.abc import Callable


class TrainingThread:
    """One per process. `here()` costs a comparison."""

    def __init__(self) -> None:
        self.owner: int | None = None
        self.home = threading.get_ident()
        """The thread the session was started in."""
        self.on_move: Callable[[], None] = lambda: None
        """Called once when the training thread is not the one the session was started in."""
        self.on_claim: Callable[[int, int], None] = lambda owner, home: None
        """Called once with the training thread and the one the session was started in."""

    def here(self) -> bool:
        """True in the training thread; the first caller becomes it."""
        me = threading.get_ident()
        if self.owner is None:
            self.owner = me
            self.on_claim(me, self.home)
            if me != self.home:
                self.on_move()
        return self.owner == me

    def elsewhere(self) -> bool:
        """True in a thread that is known not to be the training thread."""
        return self.owner is not None and self.owner != threading.get_ident()

    def forget(self) -> None:
        """A forked child may train in any thread."""
        self.owner, self.home = None, threading.get_ident()
