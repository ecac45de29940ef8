"""Do two optimizers take turns, each with a backward of its own?"""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.turns_taken import TurnsTaken

SHARED = 64  # times that an optimizer followed another without a backward between: they share each (ours)


class TurnsObserver(Observer):
    """Compares a few numbers where another optimizer steps than before, until two are seen to take turns or to share
    their backward calls."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: ById[Optimizer, int] = ById()
        """Optimizer -> backward calls before its last update; of the one in `current` before its first in a row."""
        self.current: WeakRef[Optimizer] | None = None
        self.shared = 0

    def reset(self) -> None:
        self.last.clear()
        self.current, self.shared = None, 0

    def optimizer_changed(self, optimizer: Optimizer) -> None:
        """Emit the first turn: this one steps again, and another has since, between two backward calls. Those that
        share each backward step after the same one."""
        before, now = self.last.get(optimizer), self.run.iteration
        previous = self.current() if self.current is not None else None
        if previous is not None:
            self.last[previous] = self.run.state.stepped_at
            self.shared += self.run.state.stepped_at == now
        self.last[optimizer], self.current = now, WeakRef(optimizer)
        if self.shared == SHARED:
            self.run.unsubscribe(self.optimizer_changed)
        if before is None:
            return
        for other, between in list(self.last.items()):
            if before < between < now:
                self.run.unsubscribe(self.optimizer_changed)
                self.run.emit(
                    TurnsTaken(
                        ref=self.run.ref("update", now - 1), optimizer=type(optimizer).__name__,
                        other=type(other).__name__, frame=self.run.built_at(optimizer),
                        other_frame=self.run.built_at(other),
                    )
                )  # fmt: skip
                return
