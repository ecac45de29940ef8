"""The contract of a probe: it takes numbers and notes calls, never judges, and leaves nothing behind when removed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from debugtracer.probes.skipped_code import unseen

MISSING = object()


class Probe(Protocol):
    """One place where the session listens."""

    def install(self) -> None:
        """Start listening."""

    def remove(self) -> None:
        """Stop; everything patched is as it was."""


class Patches:
    """Attributes replaced by ours, and what stood there before. Patched functions keep name, module and signature."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, str, Any, Any]] = []
        self.covered: set[str] = set()
        """Libraries that were there when `cover` looked."""

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute in the owner's own namespace."""
        before = vars(owner).get(name, MISSING)
        setattr(owner, name, value)
        self.done.append((owner, name, before, value))

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a function by make(function)."""
        self.put(owner, name, unseen(make(getattr(owner, name))))

    def cover(self, module: str, path: str, make: Callable[[Any], Any]) -> None:
        """Wrap `Class.method` or `function` of a library once the program has imported it; we import none. A few dictionary reads."""
        owner: Any = None if module in self.covered else sys.modules.get(module)
        *inside, name = path.split(".")
        for part in inside:
            owner = getattr(owner, part, None)
        if callable(getattr(owner, name, None)):
            self.covered.add(module)
            self.wrap(owner, name, make)

    def undo(self) -> None:
        """Restore, newest first; what somebody patched over us stays (ours is then inert)."""
        for owner, name, before, value in reversed(self.done):
            now = vars(owner).get(name, MISSING)
            if now is not value and getattr(now, "__func__", now) is not value:
                continue
            if before is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self.done.clear()
        self.covered.clear()
