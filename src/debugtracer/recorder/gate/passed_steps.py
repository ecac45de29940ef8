"""Steps of which nothing is read but that they were: where all else rests and it is still more than promised, one of
some is looked at.

(docs/rationale/performance.md#governor)"""

from __future__ import annotations

from torch.optim import Optimizer

from debugtracer.recorder.governor import WORDS, Part
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.training_events import TrainingEvents

# steps of which one is looked at where whole steps rest (ours): a prime, so that of optimizers that take turns each is
# looked at
LOOKED_AT_EVERY = 17


class PassedSteps:
    """One per process. A step that is passed over is counted, with its backward calls; a microsecond."""

    def __init__(self, state: RunState, events: TrainingEvents) -> None:
        self.state, self.events = state, events
        self.each = 0
        """After a step that was looked at, so many are passed over."""
        self.passes = False
        """Some are, or were since a step was looked at."""
        self.given = self.to_come = 0
        """How many that were since the last one, and how many of them are still to come."""
        self.waiting, self.waiting_s = 0, 0.0
        """Steps that the governor is to hear of, and their seconds."""
        self.keeps_all = False
        """The scaler of the program answers for each step."""

    def keep_all(self) -> None:
        """Look at every step of this program."""
        self.keeps_all = True

    def rest(self, rests: bool) -> None:
        """Leave steps out from the next one on that is looked at, or none."""
        self.each = LOOKED_AT_EVERY - 1 if rests and not self.keeps_all else 0
        self.passes = self.passes or self.each > 0

    def backward(self, ends_step: bool) -> bool:
        """Count a backward; False where it ends a step, which the next call counts."""
        state = self.state
        if ends_step:
            self.to_come -= 1
            state.step = state.iteration
        state.iteration += 1
        state.last_loss, state.forward_since = None, False
        return not ends_step

    def step(self, optimizer: Optimizer, tells: bool) -> bool:
        """Count a step that is over; with `tells` the observers hear of its end. False where something has woken in
        it."""
        if not self.to_come:
            return False
        self.to_come -= 1
        self.state.step += 1
        if tells:
            self.events.step_closed(optimizer)
        return True

    def looked_at(self, seconds: float) -> float:
        """Begin anew after a step that was looked at, which with those before it took so many seconds; its share."""
        passed = self.given - self.to_come
        each_s = seconds / (passed + 1)
        self.waiting += passed
        self.waiting_s += passed * each_s
        self.given = self.to_come = self.each
        self.passes = self.each > 0
        return each_s

    def end(self) -> bool:
        """Look at the step in flight and at those after it; True if some before it were passed over."""
        passed = self.given - self.to_come
        self.waiting += passed
        self.each = self.given = self.to_come = 0
        return passed > 0

    def take(self) -> tuple[int, float]:
        """Return how many steps were passed over since the last call, and their seconds; they count as rested."""
        steps, seconds = self.waiting, self.waiting_s
        self.waiting, self.waiting_s = 0, 0.0
        for part in (Part.GRADIENTS, Part.STEPS) if steps else ():
            self.state.rested[WORDS[part]] = self.state.rested.get(WORDS[part], 0) + steps
        return steps, seconds

    def reset(self) -> None:
        """Begin anew, with every step looked at."""
        self.keeps_all = self.passes = False
        self.each = self.given = self.to_come = self.waiting = 0
        self.waiting_s = 0.0
