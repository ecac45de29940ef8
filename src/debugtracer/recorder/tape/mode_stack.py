"""Whether our function mode lies on torch's stack: it is taken off while modules, backward, optimizers and loaders run,
so it costs nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode, _push_mode


class ModeStack:
    """One per process. Until a mode is attached every call is harmless."""

    def __init__(self) -> None:
        self.mode: TorchFunctionMode | None = None
        self.off = 0
        """Above 0: every call passes untouched (used when another mode lies on top of ours)."""
        self.pushed = False
        self.resting = False
        """The tape rests: calls outside modules pass without us."""
        self.due = False
        """It works again, as soon as nobody has suspended us."""

    def attach(self, mode: TorchFunctionMode) -> None:
        """Set the mode that is pushed and popped from here on."""
        self.mode = mode

    def push(self) -> None:
        """Put the mode on this thread's stack, once."""
        if not self.pushed and self.mode is not None and not self.resting:
            _push_mode(self.mode)
            self.pushed = True

    def rest(self, rests: bool) -> None:
        """Take the mode off the stack until rest(False), whoever suspends and resumes meanwhile."""
        if rests == self.resting:
            return
        self.resting, self.due = rests, False
        if rests and self.pushed and _get_current_function_mode() is self.mode:
            _pop_mode()
            self.pushed = False
        elif not rests and self.off:
            self.due = True
        elif not rests:
            self.push()

    def move(self) -> None:
        """Listen in this thread, which trains; the stack of the thread that we were installed in is out of reach and
        silent."""
        self.pushed = False
        self.push()

    def pop(self) -> None:
        """Take the mode off this thread's stack, or disarm it if it lies under another one."""
        if self.pushed and _get_current_function_mode() is self.mode:
            _pop_mode()
        elif self.pushed:
            self.off += 1
        self.pushed = False

    def listening(self) -> bool:
        """True while calls outside modules are recorded in this thread."""
        return self.pushed and not self.off and _get_current_function_mode() is self.mode

    def suspend(self) -> bool:
        """Stop listening until resume(answer); True when the mode left the stack."""
        if self.listening():
            _pop_mode()
            self.pushed = False
            return True
        self.off += 1
        return False

    def resume(self, popped: bool) -> None:
        """Resume after suspend(), given its answer."""
        if not popped:
            self.off -= 1
            if self.due and not self.off:
                self.due = False
                self.push()
        else:
            self.push()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing inside the context."""
        popped = self.suspend()
        try:
            yield
        finally:
            self.resume(popped)

    def reset(self) -> None:
        """Resume everything after an exception went through a step."""
        self.off = 0
        self.resting = self.due = False
