"""Steps executed again with one thing changed at a time: what trials of one step and of several have in common."""

from __future__ import annotations

import contextlib
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from time import perf_counter
from typing import Any, TypeVar

from torch import Tensor, nn

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import Leaf
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.rewind import ReplayedState, eager
from debugtracer.replay.trials.changed import ChangedExecution
from debugtracer.replay.trials.healthy_step import counterparts, probe_of
from debugtracer.replay.trials.score import Score

Made = TypeVar("Made", bound="Trials")


class Trials(ABC):
    """Use as a context: making one saves the world, leaving it restores it bit for bit. Making raises ReplayRefused
    where steps cannot be executed again."""

    def __init__(
        self,
        context: ReplayContext,
        world: ReplayedState,
        stack: contextlib.ExitStack,
        failed: Segment,
        healthy: Segment | None,
        rows: int | None,
        grad_l2_usual: float | None,
    ) -> None:
        self.context, self.world = context, world
        self.rows = rows
        """Rows of the failing batch."""
        self.grad_l2_usual = grad_l2_usual
        """Median gradient norm of the last healthy steps, L2."""
        self.probe = probe_of(healthy)
        """The forward of the last healthy step, and its loss in it."""
        self.healthy: dict[int, Tensor] = counterparts(failed, healthy)
        self.stack = stack.pop_all()
        """What leaving closes."""

    def __enter__(self: Made) -> Made:
        return self

    def __exit__(self, *error: Any) -> None:
        self.stack.close()

    @abstractmethod
    def rerun(self) -> Rerun:
        """The steps as an intervention may change them."""

    @abstractmethod
    def perform(self, rerun: Rerun, score: Score) -> None:
        """Rewind, run, read the scores."""

    def is_batch(self, leaf: Leaf) -> bool:
        """True for a fetched tensor, or an input with one row for each sample."""
        tensor = leaf.tensor
        if isinstance(tensor, nn.Parameter) or tensor.requires_grad or not tensor.dim() or leaf.origin is not None:
            return False
        return self.rows is not None and tensor.shape[0] == self.rows

    def run(self, intervention: Intervention) -> Score:
        """Run one trial. Never raises what the step raises: a run that fails is refused with its error."""
        rerun, begin = self.rerun(), perf_counter()
        why = intervention.refuses(rerun)
        if why:
            return Score(refused=why)
        score = Score()
        try:
            score.change = intervention.apply(rerun)
            self.perform(rerun, score)
            score.change = rerun.described() or score.change
            score.voided = rerun.overwritten
            score.refused = next(filter(None, (doubt() for doubt in rerun.doubts)), "")
        except ReplayRefused as error:
            score = Score(refused=str(error.__cause__ if isinstance(error.__cause__, ReplayRefused) else error))
        except Exception as error:
            score = Score(
                refused=(
                    f"{type(error).__name__}: {str(error).splitlines()[0].split('. ')[0][:120] if str(error) else ''}"
                )
            )
        score.seconds = perf_counter() - begin
        return score

    def probed(self, rerun: Rerun) -> float | None:
        """The loss of the last healthy step, its batch and its random numbers, on the weights as they are now, with a
        change of the code still in force."""
        if self.probe is None:
            return None
        plan, slot = self.probe
        try:
            run = ChangedExecution(
                plan, self.context.backward, dataclasses.replace(rerun, entries=plan.entries, inputs={}, seed=None)
            )
            run.run()
            loss = run.values[slot.segment, slot.entry][slot.output]
        except (ReplayRefused, KeyError, IndexError):
            return None
        return float(loss.detach().item()) if loss.numel() == 1 else None


@contextlib.contextmanager
def replaying(context: ReplayContext, compiled: bool = False) -> Iterator[None]:
    """Make a context in which nothing is recorded, and compiled regions run eagerly unless only the compiled code shows
    the fault."""
    with context.paused(), contextlib.nullcontext() if compiled else eager():
        yield
