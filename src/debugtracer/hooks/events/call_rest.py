"""Root calls and batches, which rest last of all: what is left of a step is its loss, the norm of its gradients and the
gate."""

from __future__ import annotations

from collections.abc import Callable

from debugtracer.hooks.events.resting_events import RestingEvents

# steps after an evaluation in which they do not rest (ours): where each is followed by one, torch's functions would be
# replaced and put back in each
WAITS = 64


class CallRest:
    """One per session. It changes between two steps, and where an evaluation begins."""

    def __init__(self, resting: RestingEvents) -> None:
        self.resting = resting
        self.rests = False
        self.evaluated: int | None = None
        """The step in which an evaluation began last."""
        self.listeners: list[Callable[[bool], None]] = []

    def on_change(self, listener: Callable[[bool], None]) -> None:
        """Call the listener whenever they rest, and when they are seen again."""
        self.listeners.append(listener)

    def change(self, rests: bool) -> None:
        """Leave root calls and batches to torch, or see them again. A comparison where nothing changes."""
        if rests == self.rests:
            return
        self.rests = rests
        self.resting.rest_calls(rests)
        for listener in self.listeners:
            listener(rests)

    def may_rest(self) -> bool:
        """Whether no evaluation began in the last steps."""
        return self.evaluated is None or not 0 <= self.resting.state.step - self.evaluated < WAITS

    def mode_called(self, training: bool) -> None:
        """Report calls again where an evaluation begins: its batches and its loss."""
        if training:
            return
        self.evaluated = self.resting.state.step
        if self.rests:
            self.resting.steps.publish()
            self.change(False)
