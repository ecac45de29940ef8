"""Which process this is, known without a system call for each step."""

from __future__ import annotations

import os


class OwnProcess:
    """One per process; a forked child finds its own number in it."""

    def __init__(self) -> None:
        self.note()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.note)

    def note(self) -> None:
        """Ask the system; called once, and in each forked child."""
        self.pid = os.getpid()
