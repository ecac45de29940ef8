"""All hooks of a session: installed in order, removed last first, and silent inside a with block while a replay
runs."""

from __future__ import annotations

from typing import Protocol

from debugtracer.errors import guarded
from debugtracer.hooks.hook import Hook
from debugtracer.recorder.tape.mode_stack import ModeStack


class Pausable(Protocol):
    """What can be silenced for a while."""

    def pause(self) -> None:
        """Hand nothing on until resume()."""

    def resume(self) -> None:
        """Report again, after a pause()."""


class HookSet:
    """One per session."""

    def __init__(self, stack: ModeStack) -> None:
        self.stack = stack
        self.hooks: list[Hook] = []
        self.pausable: list[Pausable] = []

    def add(self, *hooks: Hook) -> None:
        """Append hooks in the order in which they are installed."""
        self.hooks += hooks
        self.pausable += hooks

    def pause_too(self, other: Pausable) -> None:
        """Add something that is no hook and must be silent with them."""
        self.pausable.append(other)

    def install(self) -> None:
        """Attach every hook; one that fails is counted and the others go on."""
        for hook in self.hooks:
            guarded(f"install {type(hook).__name__}")(hook.install)()

    def remove(self) -> None:
        """Detach them, last first."""
        for hook in reversed(self.hooks):
            guarded(f"remove {type(hook).__name__}")(hook.remove)()

    def disabled(self) -> HooksDisabled:
        """A context in which no hook listens: the calls are ours."""
        return HooksDisabled(self.stack, self.pausable)


class HooksDisabled:
    """Pauses on entry, resumes on exit."""

    def __init__(self, stack: ModeStack, pausable: list[Pausable]) -> None:
        self.stack, self.pausable = stack, pausable
        self.popped = False

    def __enter__(self) -> None:
        self.popped = self.stack.suspend()
        for one in self.pausable:
            one.pause()

    def __exit__(self, *_: object) -> None:
        for one in self.pausable:
            one.resume()
        self.stack.resume(self.popped)
