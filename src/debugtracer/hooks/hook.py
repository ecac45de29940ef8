"""The contract of a hook: it reports what happens at one place of torch, never judges, and leaves nothing behind when
removed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from debugtracer.hooks.skipped_code import unseen

MISSING = object()
T = TypeVar("T")


class Hook(Protocol):
    """One place of torch at which the session listens."""

    def install(self) -> None:
        """Install the patches or hooks and listen."""

    def remove(self) -> None:
        """Stop; everything patched is as it was."""

    def pause(self) -> None:
        """Let the calls of a replay pass unseen, until resume()."""

    def resume(self) -> None:
        """Report again, after a pause()."""


class Switch:
    """A hook that passes every call on while it is off."""

    def __init__(self) -> None:
        self.off = False

    def pause(self) -> None:
        """Let the calls of a replay pass unseen, until resume()."""
        self.off = True

    def resume(self) -> None:
        """Report again, after a pause()."""
        self.off = False


class AlwaysOn:
    """A hook that a replay cannot meet, or that must see it too."""

    def pause(self) -> None:
        """Do nothing: there is no patch to silence."""

    def resume(self) -> None:
        """Do nothing, as the counterpart of pause()."""


class Patches:
    """Attributes replaced by ours, and what stood there before. Patched functions keep name, module and signature."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, str, Any, Any]] = []
        self.covered: set[str] = set()
        """Libraries that were there when `cover` looked."""
        self.modules = 0
        """How many modules were imported when `news` looked."""

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute in the owner's own namespace."""
        before = vars(owner).get(name, MISSING)
        setattr(owner, name, value)
        self.done.append((owner, name, before, value))

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a function by make(function)."""
        self.put(owner, name, unseen(make(getattr(owner, name))))

    def cover(self, module: str, path: str, make: Callable[[Any], Any]) -> None:
        """Wrap `Class.method` or `function` of a library once the program has imported it; we import none. A few
        dictionary reads."""
        owner: Any = None if module in self.covered else sys.modules.get(module)
        *inside, name = path.split(".")
        for part in inside:
            owner = getattr(owner, part, None)
        if callable(getattr(owner, name, None)):
            self.covered.add(module)
            self.wrap(owner, name, make)

    def news(self) -> bool:
        """Whether anything was imported since the last call, so that `cover` is worth asking. Under a microsecond."""
        before, self.modules = self.modules, len(sys.modules)
        return before != self.modules

    def lift(self, lifted: bool) -> None:
        """Let what stood there before be called meanwhile, or ours again; what somebody has put there since stays."""
        for owner, name, before, value in self.done:
            here, there = (value, before) if lifted else (before, value)
            if vars(owner).get(name, MISSING) is here and before is not MISSING:
                setattr(owner, name, there)

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
        self.modules = 0


class OutermostCalls(Switch):
    """What functions of ours ask that stand in the place of torch's: is this the outermost call? Kept by a hook, or the
    base of one.

    Calls that a patched function makes itself pass untouched, and so does every call while the hook is off: whoever
    kept a reference to the stand-in has then the original.
    """

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.depth = 0
        """Calls on the stack that are acted on."""

    def passes(self) -> bool:
        """Whether this call only runs the original. Under a tenth of a microsecond."""
        return self.off or self.depth > 0

    def inside(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """What `function` gives; the calls that it makes are not the outermost ones."""
        self.depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            self.depth -= 1

    def after(
        self, original: Callable[..., T], tell: Callable[[tuple[Any, ...], dict[str, Any], T], None]
    ) -> Callable[..., T]:
        """A stand-in that tells of an outermost call, with its arguments and its result, once it has returned; what it
        raises is the program's."""

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> T:
            result = self.inside(original, *args, **kwargs)
            if not self.off and not self.depth:
                tell(args, kwargs, result)
            return result

        return call

    def close(self) -> None:
        """Restore everything patched; a stand-in that somebody kept only runs the original."""
        self.off = True
        self.patches.undo()


for ours in (OutermostCalls.passes, OutermostCalls.inside):
    unseen(ours)  # as the stand-ins that call them
