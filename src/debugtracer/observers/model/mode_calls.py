"""The last calls of train() and eval() that the program made, and what they were called on."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from torch import nn

from debugtracer.callsites.frames import RawFrames

KEPT = 32  # last calls remembered (ours)


class ModeCall(NamedTuple):
    """One outermost call."""

    module: weakref.ref[nn.Module]
    mode: bool
    raw: RawFrames
    """Where the program made it."""
    number: int
    """How many there were by then."""


class ModeCalls:
    """One per process. Keeps no module alive."""

    def __init__(self) -> None:
        self.calls: deque[ModeCall] = deque(maxlen=KEPT)
        self.count = 0
        self.listeners: list[Callable[[bool], None]] = []
        self.sources: list[Callable[[bool], None]] = []

    def on_call(self, listener: Callable[[bool], None]) -> None:
        """Call the listener with the mode of each."""
        self.listeners.append(listener)

    def made_by(self, rest: Callable[[bool], None]) -> None:
        """Take who notes calls: what lets it rest, and note again."""
        self.sources = [rest]

    def rest(self, rests: bool) -> None:
        """Let no call be noted until rest(False); those of meanwhile are not known."""
        for source in self.sources:
            source(rests)

    def note(self, module: nn.Module, mode: bool, raw: RawFrames) -> None:
        """Remember a call and its place."""
        self.count += 1
        self.calls.append(ModeCall(weakref.ref(module), mode, raw, self.count))
        for listener in self.listeners:
            listener(mode)

    def clear(self) -> None:
        """Forget the calls so far."""
        self.calls.clear()

    def last(self, part: nn.Module, mode: bool | None = None) -> tuple[nn.Module, ModeCall] | None:
        """The last call that reached a part (of that mode), with the module that it was made on. Walks modules: not on
        a hot path."""
        for call in reversed(self.calls):
            module = call.module() if mode is None or call.mode is mode else None
            if module is not None and any(one is part for one in module.modules()):
                return module, call
        return None
