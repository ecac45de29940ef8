"""Do two optimizers take turns, each with a backward of its own?"""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.turns_taken import TurnsTaken


class TurnsObserver(Observer):
    """Compares two numbers in each update, until two optimizers are seen to take turns."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.last: ById[Optimizer, int] = ById()
        """Optimizer -> backward calls before its last update."""
        self.built = 0
        run.unsubscribe(self.step_closed)

    def reset(self) -> None:
        self.last.clear()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen to updates from the second optimizer on."""
        self.built += 1
        if self.built == 2:
            self.run.subscribe(self.step_closed)

    @always
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit the first turn: this one steps again, and another has since, between two backward calls. Those that
        share each backward step after the same one."""
        before, now = self.last.get(optimizer), self.run.iteration
        self.last[optimizer] = now
        if before is None or len(self.last) < 2:
            return
        for other, between in list(self.last.items()):
            if other is not optimizer and before < between < now:
                self.run.unsubscribe(self.step_closed)
                self.run.emit(
                    TurnsTaken(
                        ref=self.run.ref("update", now - 1), optimizer=type(optimizer).__name__,
                        other=type(other).__name__, frame=self.run.built_at(optimizer),
                        other_frame=self.run.built_at(other),
                    )
                )  # fmt: skip
                return
