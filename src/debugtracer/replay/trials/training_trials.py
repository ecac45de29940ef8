"""Some dozen steps of training on the batches that are kept, from a snapshot on and with one thing changed: for faults
that show in how fast the loss falls and in no single step."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

from torch import nn

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan, leaves
from debugtracer.replay.trials.changed import ChangedExecution
from debugtracer.replay.trials.healthy_step import probe_of
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.replay.trials.score import Score, all_finite

LEAST_BATCHES = 8  # fewer kept steps cannot be parted into some to train on and some to look at (ours)
HELD_BACK = 4  # one batch of so many is only looked at (ours)
SEED = 7919  # of the first repeat; any would do (ours)


class TrainingTrials(HistoryTrials):
    """Every trial begins with the snapshot and trains on the same batches in the same order, with the same seed; a
    repeat takes another order and another seed."""

    def __init__(self, history: StepHistory, context: ReplayContext, steps: int) -> None:
        refuse_training(history)
        super().__init__(history, context, None)
        self.steps, self.repeat = steps, 0
        """Updates of one trial; which order of the batches."""
        self.held_back = [plan for s in history.segments[HELD_BACK - 1 :: HELD_BACK] if (plan := probe_of(s))]
        """Forwards of the steps that are not trained on, each with its loss."""
        self.batches = [s for n, s in enumerate(history.segments) if n % HELD_BACK != HELD_BACK - 1]
        self.all_training = False
        """The program has put its model into eval mode since: modules train as the steps did."""

    def take_order(self, repeat: int) -> None:
        """Take the order of the batches and the seed of a repeat, for the trials to come."""
        self.repeat = repeat

    def check(self) -> None:
        """Raise ReplayRefused unless the unchanged steps, in their own order, give the losses of the run again."""
        if not self.held_back:
            raise ReplayRefused("no loss of the steps that are kept can be computed again")
        for self.all_training in (False, True):
            score = Score()
            with self.as_trained():
                super().perform(super().rerun(), score)
            if self.departs is None:
                return
        raise ReplayRefused(f"they lead away from the recorded losses at step {self.departs}")

    def rerun(self) -> Rerun:
        """The steps as an intervention may change them, with the seed of this repeat."""
        rerun = super().rerun()
        rerun.seed = SEED + self.repeat
        return rerun

    def sequence(self) -> list[Segment]:
        """The steps of this repeat in order: passes over the batches, each shuffled."""
        draw, found = random.Random(SEED + self.repeat), list[Segment]()
        while len(found) < self.steps:
            found += draw.sample(self.batches, len(self.batches))
        return found[: self.steps]

    def perform(self, rerun: Rerun, score: Score) -> None:
        """Run the training from the snapshot on; the loss is the mean over the batches held back."""
        self.world.rewind()
        self.history.snapshot.restore()
        self.history.snapshot.restore_gradients()
        with contextlib.ExitStack() as stack:
            stack.callback(self.history.snapshot.restore)  # what is tried next is asked about settings that are its own
            stack.enter_context(self.as_trained())
            for context in rerun.throughout:
                stack.enter_context(context)
            for segment in self.sequence():
                for begins in rerun.before_step:
                    begins()
                ChangedExecution(ReplayPlan([segment]), self.context.backward, rerun).run()
            score.finite_update = all_finite(self.parameters())
            losses = list(self.looked_at(rerun))
        score.loss = sum(losses) / len(losses)

    def looked_at(self, rerun: Rerun) -> Iterator[float]:
        """The losses of the batches held back, on the weights as they are now and with the recorded random numbers."""
        rerun.seed = None
        for plan, slot in self.held_back:
            run = ChangedExecution(plan, self.context.backward, rerun)
            run.run()
            yield float(run.values[slot.segment, slot.entry][slot.output].detach().mean())

    @contextlib.contextmanager
    def as_trained(self) -> Iterator[None]:
        """Put modules into training mode where the program has switched them since; as before at exit."""
        modules = modules_of(self.history) if self.all_training else []
        before = [(m, m.training) for m in modules]
        for module in modules:
            module.training = True
        try:
            yield
        finally:
            for module, mode in before:
                module.training = mode


def modules_of(history: StepHistory) -> list[nn.Module]:
    """Every module that the steps call, each once."""
    roots = (e.function for s in history.segments for e in s.entries if e.kind == "module")
    return list({id(m): m for root in roots for m in root.modules()}.values())


def refuse_training(history: StepHistory) -> None:
    """Raise ReplayRefused for steps that cannot be taken in another order, or whose loss alone says nothing."""
    if several_ranks():
        raise ReplayRefused("several ranks train together, and only this one would train again")
    if len(history.segments) < LEAST_BATCHES:
        raise ReplayRefused(f"{len(history.segments)} steps are kept, expected {LEAST_BATCHES} at least")
    if any(leaf.origin is not None for segment in history.segments for leaf in leaves(segment)):
        raise ReplayRefused("a step uses a graph of the step before, so they cannot be taken in another order")
    stepped = {id(e.args[0]) for s in history.segments for e in s.entries if e.kind == "step"}
    if len(stepped) > 1:
        raise ReplayRefused("several optimizers train in turn: a loss that falls may be another one's that rises")
    if not stepped:
        raise ReplayRefused("no optimizer made the updates")
