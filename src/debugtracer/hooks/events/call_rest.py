"""Root calls and batches, which rest last of all: what is left of a step is its loss, the norm of its gradients and the
gate."""

from __future__ import annotations

from collections.abc import Callable

from debugtracer.hooks.events.resting_events import RestingEvents

# steps after an evaluation in which they do not rest (ours): an evaluation is heard from its begin, for which torch's
# functions are replaced and put back each time
WAITS = 16
# where evaluations follow each other more closely than that, steps of which one is seen with its evaluation (ours)
SEEN_OF = 16
MOST_UNSEEN = 1024  # steps in a row of which no evaluation is heard (ours)


class CallRest:
    """One per session. It changes between two steps, and where an evaluation begins."""

    def __init__(self, resting: RestingEvents) -> None:
        self.resting = resting
        self.rests = False
        self.evaluated: int | None = None
        """The step in which an evaluation began last."""
        self.apart = WAITS
        """Steps between that one and the step with an evaluation before it."""
        self.seen_from = 0
        """The step from which they are seen again."""
        self.until: int | None = None
        """They rest with the begin of evaluations, up to this step."""
        self.listeners: list[Callable[[bool], None]] = []
        self.mode_listeners: list[Callable[[bool], None]] = []

    def on_change(self, listener: Callable[[bool], None]) -> None:
        """Call the listener whenever they rest, and when they are seen again."""
        self.listeners.append(listener)

    def on_modes_rest(self, listener: Callable[[bool], None]) -> None:
        """Call the listener when the begin of an evaluation is not heard any more, and when it is again."""
        self.mode_listeners.append(listener)

    def change(self, rests: bool) -> None:
        """Leave root calls and batches to torch, or see them again. A comparison where nothing changes."""
        if rests == self.rests:
            return
        self.rests = rests
        modes_rest = rests and self.until is not None
        if not rests:
            self.seen_from, modes_rested, self.until = self.resting.state.step, self.until is not None, None
        self.resting.rest_calls(rests)
        for listener in self.listeners:
            listener(rests)
        if modes_rest or (not rests and modes_rested):
            for listener in self.mode_listeners:
                listener(modes_rest)

    def may_rest(self) -> bool:
        """Whether no evaluation began in the last steps; where each few steps have one, whether one was seen lately."""
        step = self.resting.state.step
        if self.rests:
            return self.until is None or step < self.until
        since = WAITS if self.evaluated is None else step - self.evaluated
        if not 0 <= since < WAITS:
            return True
        if self.apart >= WAITS or not self.seen_from <= step - since < step:
            return False
        self.until = step + min((SEEN_OF - 1) * (step - self.seen_from), MOST_UNSEEN)
        return True

    def mode_called(self, training: bool) -> None:
        """Report calls again where an evaluation begins: its batches and its loss."""
        if training:
            return
        step = self.resting.state.step
        if step != self.evaluated:
            self.apart = WAITS if self.evaluated is None else abs(step - self.evaluated)
            self.evaluated = step
        if self.rests:
            self.resting.steps.publish()
            self.change(False)
