"""What is told of passes over the loaders of the program, guarded: no failure of ours ends a loop."""

from __future__ import annotations

from typing import Any

from debugtracer.errors import guarded
from debugtracer.recorder.listeners import PassListener


class PassEvents:
    """One per loader hook. Nobody may listen."""

    def __init__(self, listener: PassListener | None) -> None:
        self.listener = listener

    @guarded("hooks.loader: a pass begins")
    def begins(self, loader: Any) -> None:
        """Report a pass that begins."""
        if self.listener is not None:
            self.listener.begins(loader)

    @guarded("hooks.loader: a pass has begun")
    def begun(self, loader: Any, iterator: Any) -> None:
        """Report the iterator of a pass."""
        if self.listener is not None:
            self.listener.begun(loader, iterator)

    @guarded("hooks.loader: a pass ends")
    def ends(self, iterator: Any) -> bool:
        """Whether a pass is to end before its next fetch."""
        return self.listener is not None and self.listener.waiting and self.listener.before_fetch(iterator)
