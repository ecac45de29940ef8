"""The last steps executed again from a snapshot, updates included, with one thing changed: for faults that leave every
number finite."""

from __future__ import annotations

import contextlib
import math
import statistics
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.state.buffer_values import value_of
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.recorder.tape.entry import HALF, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.parity import same_bits
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan, leaves, refuse
from debugtracer.replay.rewind import ReplayedState, hushed
from debugtracer.replay.trials.batch_rows import inputs_of, rows_of, rows_of_batch
from debugtracer.replay.trials.changed import ChangedExecution
from debugtracer.replay.trials.score import Score, all_finite, norm
from debugtracer.replay.trials.trials import Trials, replaying

# median absolute deviations above the median of a healthy batch: a row that far out is guilty (ours, as
# data/outlier-sample)
OUTLYING = 10.0
SLIGHT = 0.01  # of the furthest row's excess: what lies below it cannot have made the loss jump (ours)
SAME = 0.01  # by this share two executions of one step may differ where kernels are not deterministic (ours)
BEYOND = 1.25  # times the largest row of a healthy batch (ours, as for losses that stand out)


class HistoryTrials(Trials):
    """The failing step is the last segment; an intervention on the batch changes it alone, one on updates every update
    of the way.

    `broken` is the class of an invariant that is known to be broken, for the fix of one line."""

    def __init__(
        self, history: StepHistory, context: ReplayContext, grad_l2_usual: float | None, broken: str = ""
    ) -> None:
        self.history, self.broken = history, broken
        self.guilty_rows: tuple[int, ...] | None = None
        self.row_losses: Tensor | None = None
        """Loss of each row of the failing batch, where the loss function lets them be told apart."""
        self.losses: list[float] = []
        """The loss of each step of the last run."""
        self.departs: int | None = None
        """Number of the first step of the last run whose loss was not the recorded one; None: all were."""
        self.usual_rows: Tensor | None = None
        """The same of the step before."""
        self.whole_batch = False
        """Every row of the failing batch stands out."""
        self.reproduced_bits = False
        self.following = False
        """Follow how far each parameter moves (the unchanged run)."""
        self.before: list[Tensor] = []
        self.last_update: tuple[list[Tensor], list[Tensor]] | None = None
        """Parameters before the last update and what it added, in the unchanged run."""
        self.moves: list[dict[int, float]] = []
        """Per update since the snapshot: id of a parameter -> how far it went, relative to its norm."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaying(context))
            refuse_history(history)
            self.last = history.segments[-1]
            self.optimizers: list[Optimizer] = [
                o for o in (c.optimizer() for c in history.snapshot.copies) if o is not None
            ]
            world = world_of(history, context, self.optimizers)
            stack.callback(world.restore)
            stack.enter_context(hushed())
            healthy = history.segments[-2] if len(history.segments) > 1 else None
            rows = rows_of_batch(self.last, context)
            super().__init__(context, world, stack, self.last, healthy, rows, grad_l2_usual)

    def parameters(self) -> list[Tensor]:
        """The parameters of every optimizer of the snapshot."""
        return [p for o in self.optimizers for p in self.context.parameters(o)]

    def uses_half(self) -> bool:
        """True if some call ran under autocast, or a parameter is in half precision."""
        held = [p.dtype for o in self.optimizers for p in self.context.parameters(o)]
        return any(e.autocast for e in self.last.entries) or any(d in HALF for d in held)

    def inputs(self) -> list[Leaf]:
        """The inputs of the failing step, what it drew at random included."""
        return inputs_of(self.last)

    def rerun(self) -> Rerun:
        """The last step, as an intervention may change it."""
        plan = ReplayPlan(self.history.segments)
        rerun = Rerun(
            "nan_loss",
            self.last.entries,
            roots_of(self.history),
            self.optimizers,
            rows=self.rows,
            frames=self.context.frames,
            healthy=self.healthy,
        )
        rerun.entries = plan.entries
        rerun.guilty = self.guilty_rows
        rerun.batch = [leaf for leaf in self.inputs() if self.is_batch(leaf)]
        rerun.grad_l2_usual = self.grad_l2_usual
        rerun.history, rerun.replays_past, rerun.broken = self.history.steps, True, self.broken
        return rerun

    def perform(self, rerun: Rerun, score: Score) -> None:
        """Run from the snapshot to the update of the failing step; older weights meet its batch without the updates
        between."""
        self.world.rewind()
        self.history.snapshot.restore()
        if not rerun.steps_back:
            self.history.snapshot.restore_gradients()
        self.departs = None
        if self.following:
            self.before, self.moves = [], []
        with contextlib.ExitStack() as stack:
            for context in rerun.throughout:
                stack.enter_context(context)
            segments = (
                [self.last]
                if rerun.steps_back
                else self.history.segments[::-1]
                if rerun.backwards_in_time
                else self.history.segments
            )
            self.losses = []
            run: ChangedExecution | None = None
            kept: dict[tuple[int, int], list[Tensor]] = {}
            for segment in segments:
                run = ChangedExecution(ReplayPlan([segment]), self.context.backward, rerun)
                if self.following and segment in self.history.segments[-2:]:
                    run.before_backward = self.read_rows if segment is self.last else self.read_usual
                run.values.update(kept)
                for begins in rerun.before_step:
                    begins()
                run.run(until=self.before_update(segment) if segment is segments[-1] else None)
                if self.departs is None and not self.as_recorded(run, segment):
                    self.departs = segment.first_step
                self.losses += [float(v.detach()) for v in run.losses.values() if v.numel() == 1]
                if segment is not segments[-1]:
                    self.moved()
                kept = {key: value for key, value in run.values.items() if self.needed_later(key)}
            assert run is not None
            final = segments[-1]
            loss = self.last_loss(run, final)
            score.loss = float(loss.detach().item()) if loss is not None and loss.numel() == 1 else None
            self.reproduced_bits = (
                loss is not None and bool(self.last.losses) and same_bits(loss.detach(), self.last.losses[-1][0])
            )
            parameters = self.parameters()
            gradients = [p.grad for p in parameters if p.grad is not None]
            score.grad_l2 = norm(gradients) if gradients else None
            if rerun.steps_back:
                return  # its update would be that of the bad step on other weights
            start = [p.detach().clone() for p in parameters] if self.following else []
            self.finish(run, final)
            if self.following:
                self.last_update = (start, [p.detach() - at for p, at in zip(parameters, start, strict=True)])
            self.moved()
            score.finite_update = all_finite(parameters)
            score.probe_loss = self.probed(rerun)

    def as_recorded(self, run: ChangedExecution, segment: Segment) -> bool:
        """True if the loss of a step is the recorded one, but for rounding, or unknown. Syncs the host."""
        loss, then = self.last_loss(run, segment), segment.losses[-1][0] if segment.losses else None
        if loss is None or then is None or loss.numel() != 1 or then.numel() != 1:
            return True
        return math.isclose(float(loss.detach()), float(then), rel_tol=SAME, abs_tol=SAME)

    def moved(self) -> None:
        """Measure how far each parameter went in the update that has just been replayed."""
        if not self.following:
            return
        parameters = self.parameters()
        if len(self.before) == len(parameters):
            self.moves.append({id(p): relative(p, old) for p, old in zip(parameters, self.before, strict=True)})
        self.before = [p.detach().clone() for p in parameters]

    def before_update(self, segment: Segment) -> Any:
        """The entry after which the gradients of the step are read: the last before its first update."""
        steps = [e.index for e in segment.entries if e.kind == "step"]
        return segment.entries[steps[0] - 1] if steps and steps[0] > 0 else None

    def finish(self, run: ChangedExecution, final: Segment) -> None:
        """Execute the update of the step that came last."""
        steps = [e.index for e in final.entries if e.kind == "step"]
        for entry in final.entries[steps[0] :] if steps else ():
            run.execute(entry)

    def needed_later(self, key: tuple[int, int]) -> bool:
        """True for a value whose graph a later segment uses."""
        return any(
            leaf.origin is not None and (leaf.origin.segment, leaf.origin.entry) == key
            for s in self.history.segments
            for leaf in s.leaves.values()
        )

    def last_loss(self, run: ChangedExecution, final: Segment) -> Tensor | None:
        """The loss of the step that came last, before any scaling where the tape knows it."""
        slot: Slot | None = final.losses[-1][1] if final.losses else None
        if slot is not None and (slot.segment, slot.entry) in run.values:
            return run.values[slot.segment, slot.entry][slot.output]
        return list(run.losses.values())[-1] if run.losses else None

    def read_rows(self, loss: Tensor) -> None:
        """Read the loss of each row of the failing step, and which rows stand out; once, in the unchanged run."""
        if self.row_losses is not None or not self.rows:
            return
        self.row_losses = rows_of(loss, self.rows, self.last, self.context)
        if self.row_losses is not None:
            self.outlying(self.row_losses.tolist())

    def read_usual(self, loss: Tensor) -> None:
        """Read the loss of each row of the step before, for comparison."""
        if self.rows and self.usual_rows is None:
            self.usual_rows = rows_of(loss, self.rows, self.last, self.context)

    def outlying(self, values: list[float]) -> None:
        """Find rows beyond everything the healthy batch before had; where unknown, beyond the others of their batch.

        None that is slight beside the furthest: it cannot have made the loss jump.
        """
        usual = self.usual_rows.tolist() if self.usual_rows is not None else values
        middle = statistics.median(usual)
        spread = statistics.median(abs(v - middle) for v in usual) or abs(middle) * 0.1 or 1e-9
        top = BEYOND * max(usual) if self.usual_rows is not None else -math.inf
        top = max(top, middle + SLIGHT * (max(values) - middle))
        guilty = tuple(n for n, v in enumerate(values) if v - middle > OUTLYING * spread and v > top)
        self.whole_batch = len(guilty) == len(values)
        self.guilty_rows = guilty if guilty and not self.whole_batch else None


def relative(now: Tensor, before: Tensor) -> float:
    """The length of a change relative to the norm before it, 0..; L2."""
    change, size = float((now.detach() - before).float().norm()), float(before.float().norm())
    return change / size if size > 0 else 0.0


def refuse_history(history: StepHistory) -> None:
    """Raise ReplayRefused where a segment cannot be executed again."""
    numbers = {s.number for s in history.segments}
    for segment in history.segments:
        refuse(segment)
        if any(leaf.origin is not None and leaf.origin.segment not in numbers for leaf in leaves(segment)):
            raise ReplayRefused("a step uses a graph from before the snapshot")


def roots_of(history: StepHistory) -> list[nn.Module]:
    """Every root module of the steps."""
    return list(
        {id(e.function): e.function for s in history.segments for e in s.entries if e.kind == "module"}.values()
    )


def world_of(history: StepHistory, context: ReplayContext, optimizers: list[Optimizer]) -> ReplayedState:
    """What the steps may touch, saved."""
    roots = roots_of(history)
    held: list[Tensor] = [p for o in optimizers for p in context.parameters(o)]
    held += [p for m in roots for p in m.parameters()]
    states = [s for number in context.states for s in context.states[number]]
    states += history.snapshot.roots  # the last to be put back: those of now are only saved
    world = ReplayedState(held, states, [], history.snapshot.copies, [e for s in history.segments for e in s.entries])
    world.buffers += [(b, value) for m in roots for b in m.buffers() if (value := value_of(b)) is not None]
    world.preserve(b for m in roots for b in m.buffers())
    return world
