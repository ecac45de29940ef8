"""What was done in a run and what came of it, a line each, in the order of their steps: for tools that show lines."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.trace.events import Acted, ActionEffect
from debugtracer.trace.store.reader import Trace
from debugtracer.views.words.actions import outcome, samples_clause

EFFECT = "effect"


@dataclass(frozen=True)
class ActionLine:
    """One action, or its measured effect."""

    rank: int
    step: int
    word: str
    """The slug of the action; EFFECT for what came of one."""
    text: str

    @property
    def cells(self) -> list[str | int]:
        """What stands in a table of one rank."""
        return [self.step, self.word, self.text]


COLUMNS = ["step", "action", "text"]


def action_lines(trace: Trace, rank: int, after: int = 0) -> list[ActionLine]:
    """Return the lines of a rank in the order in which they were written, from number `after` on."""
    events = [event for event in trace.events(rank) if isinstance(event, Acted | ActionEffect)]
    return [line_of(event) for event in events[after:]]


def line_of(event: Acted | ActionEffect) -> ActionLine:
    """Put one event into words; an effect stands at the step at which it was measured."""
    if isinstance(event, Acted):
        return ActionLine(event.rank, event.step, event.action, f"{event.reason}{samples_clause(event)}")
    text = f"of the action at step {event.step}: {outcome(event)}"
    return ActionLine(event.rank, event.step + event.after, EFFECT, text)
