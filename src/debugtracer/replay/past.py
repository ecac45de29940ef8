"""The last steps executed again from a snapshot, updates included, with one thing changed: for faults that leave every number finite."""

from __future__ import annotations

import contextlib
import math
import statistics
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.rerun import Rerun
from debugtracer.probes.loss_rows import loss_node, row_losses
from debugtracer.recorder.entry import Leaf, Slot
from debugtracer.recorder.ring import Past
from debugtracer.recorder.rng import RngState
from debugtracer.recorder.tape import Segment
from debugtracer.replay.bench import Bench, counterparts, probe_of
from debugtracer.replay.changed import Changed
from debugtracer.replay.parity import same_bits
from debugtracer.replay.plan import Plan, leaves, refuse
from debugtracer.replay.rewind import World, hushed
from debugtracer.replay.scene import Scene
from debugtracer.replay.score import Score, all_finite, norm

OUTLYING = 10.0  # median absolute deviations above the median of a healthy batch: a row that far out is guilty (ours, as data/outlier-sample)
SLIGHT = 0.01  # of the furthest row's excess: what lies below it cannot have made the loss jump (ours)
SAME = 0.01  # by this share two executions of one step may differ where kernels are not deterministic (ours)
BEYOND = 1.25  # times the largest row of a healthy batch (ours, as for losses that stand out)


class PastBench(Bench):
    """Use as a context. The failing step is the last segment; an intervention on the batch changes it alone, one on updates every update of the way."""

    def __init__(self, past: Past, scene: Scene, grad_l2_usual: float | None) -> None:
        self.past, self.scene, self.birth = past, scene, None
        self.stack = contextlib.ExitStack()
        self.grad_l2_usual = grad_l2_usual
        self.guilty_rows: tuple[int, ...] | None = None
        self.row_losses: Tensor | None = None
        """Loss of each row of the failing batch, where the loss function lets them be told apart."""
        self.broken = ""
        """Class of an invariant that is known to be broken, for the fix of one line."""
        self.course: list[float] = []
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

    def __enter__(self) -> PastBench:
        super().__enter__()
        return self

    def prepare(self) -> None:
        """Check every segment, save the world."""
        segments = self.past.segments
        numbers = {s.number for s in segments}
        for segment in segments:
            refuse(segment)
            if any(leaf.origin is not None and leaf.origin.segment not in numbers for leaf in leaves(segment)):
                raise ReplayRefused("a step uses a graph from before the snapshot")
        self.last = segments[-1]
        self.optimizers: list[Optimizer] = [o for o in (c.optimizer() for c in self.past.snapshot.copies) if o is not None]
        held: list[Tensor] = [p for o in self.optimizers for p in self.scene.parameters(o)]
        roots = self.roots()
        held += [p for m in roots for p in m.parameters()]
        states = [s for number in self.scene.states for s in self.scene.states[number]]
        states += self.past.snapshot.roots  # the last to be put back: those of now are only saved
        self.world = World(held, states, [], self.past.snapshot.copies, [e for s in segments for e in s.entries])
        self.world.buffers += [(b, b.detach().clone()) for m in roots for b in m.buffers()]
        self.world.preserve(b for m in roots for b in m.buffers())
        self.rng = RngState()
        self.stack.callback(self.world.restore)
        self.stack.enter_context(hushed())
        self.probe = probe_of(segments[-2]) if len(segments) > 1 else None
        self.healthy = counterparts(self.last, segments[-2]) if len(segments) > 1 else {}
        self.rows = self.rows_of_batch()

    def roots(self) -> list[nn.Module]:
        """Every root module of the past."""
        return list({id(e.function): e.function for s in self.past.segments for e in s.entries if e.kind == "module"}.values())

    def parameters(self) -> list[Tensor]:
        """Those of every optimizer of the snapshot."""
        return [p for o in self.optimizers for p in self.scene.parameters(o)]

    def uses_half(self) -> bool:
        """Some call ran under autocast, or a parameter is in half precision."""
        held = [p.dtype for o in self.optimizers for p in self.scene.parameters(o)]
        return any(e.autocast for e in self.last.entries) or any(d in (torch.float16, torch.bfloat16) for d in held)

    def rows_of_batch(self) -> int | None:
        """Rows of the failing batch: as its loader says, else the first dimension of what the first module is given."""
        for leaf in self.inputs():
            found = self.scene.batches.find(leaf.tensor)
            if found is not None and found[0].rows:
                return found[0].rows
        first = next((e for e in self.last.entries if e.kind == "module"), None)
        given = [self.tensor_of(r) for r in (first.references() if first is not None else ())]
        return next((t.shape[0] for t in given if t is not None and t.dim()), None)

    def tensor_of(self, reference: Slot | Leaf) -> Tensor | None:
        """The tensor of an input, or of a random draw that was kept as a value; None for what a call has made."""
        if isinstance(reference, Leaf):
            return reference.tensor
        constant = self.last.entries[reference.entry].constant if reference.segment == self.last.number else None
        return constant[reference.output] if constant else None

    def inputs(self) -> list[Leaf]:
        """Inputs of the failing step, what it drew at random included."""
        return list({id(r): r for e in self.last.entries for r in e.references() if isinstance(r, Leaf)}.values())

    def rerun(self) -> Rerun:
        """The last step, as an intervention may change it."""
        plan = Plan(self.past.segments)
        rerun = Rerun("nan_loss", self.last.entries, self.roots(), self.optimizers, rows=self.rows, frames=self.scene.frames, healthy=self.healthy)
        rerun.entries = plan.entries
        rerun.guilty = self.guilty_rows
        rerun.batch = [leaf for leaf in self.inputs() if self.is_batch(leaf)]
        rerun.grad_l2_usual = self.grad_l2_usual
        rerun.history, rerun.replays_past, rerun.broken = self.past.steps, True, self.broken
        return rerun

    def perform(self, rerun: Rerun, score: Score) -> None:
        """From the snapshot to the update of the failing step; older weights meet its batch without the updates between."""
        self.world.rewind()
        self.past.snapshot.restore()
        if not rerun.steps_back:
            self.past.snapshot.restore_gradients()
        self.departs = None
        if self.following:
            self.before, self.moves = [], []
        with contextlib.ExitStack() as stack:
            for context in rerun.throughout:
                stack.enter_context(context)
            segments = [self.last] if rerun.steps_back else self.past.segments[::-1] if rerun.backwards_in_time else self.past.segments
            self.course = []
            run: Changed | None = None
            kept: dict[tuple[int, int], list[Tensor]] = {}
            for segment in segments:
                run = Changed(Plan([segment]), self.scene.backward, rerun)
                if self.following and segment in self.past.segments[-2:]:
                    run.before_backward = self.read_rows if segment is self.last else self.read_usual
                run.values.update(kept)
                for begins in rerun.before_step:
                    begins()
                run.run(until=self.before_update(segment) if segment is segments[-1] else None)
                if self.departs is None and not self.as_recorded(run, segment):
                    self.departs = segment.first_step
                self.course += [float(v.detach()) for v in run.losses.values() if v.numel() == 1]
                if segment is not segments[-1]:
                    self.moved()
                kept = {key: value for key, value in run.values.items() if self.needed_later(key)}
            assert run is not None
            final = segments[-1]
            loss = self.last_loss(run, final)
            score.loss = float(loss.detach().item()) if loss is not None and loss.numel() == 1 else None
            self.reproduced_bits = loss is not None and bool(self.last.losses) and same_bits(loss.detach(), self.last.losses[-1][0])
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

    def as_recorded(self, run: Changed, segment: Segment) -> bool:
        """The loss of a step is the one that was recorded, but for rounding; so is what no one can tell. Syncs the host."""
        loss, then = self.last_loss(run, segment), segment.losses[-1][0] if segment.losses else None
        if loss is None or then is None or loss.numel() != 1 or then.numel() != 1:
            return True
        return math.isclose(float(loss.detach()), float(then), rel_tol=SAME, abs_tol=SAME)

    def moved(self) -> None:
        """How far each parameter went in the update that has just been replayed."""
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

    def finish(self, run: Changed, final: Segment) -> None:
        """The update of the step that came last."""
        steps = [e.index for e in final.entries if e.kind == "step"]
        for entry in final.entries[steps[0] :] if steps else ():
            run.execute(entry)

    def needed_later(self, key: tuple[int, int]) -> bool:
        """A value whose graph a later segment uses."""
        return any(leaf.origin is not None and (leaf.origin.segment, leaf.origin.entry) == key for s in self.past.segments for leaf in s.leaves.values())

    def last_loss(self, run: Changed, final: Segment) -> Tensor | None:
        """The loss of the step that came last, before any scaling where the tape knows it."""
        slot: Slot | None = final.losses[-1][1] if final.losses else None
        if slot is not None and (slot.segment, slot.entry) in run.values:
            return run.values[slot.segment, slot.entry][slot.output]
        return list(run.losses.values())[-1] if run.losses else None

    def read_rows(self, loss: Tensor) -> None:
        """Loss of each row of the failing step, and which rows stand out; once, in the unchanged run."""
        if self.row_losses is not None or not self.rows:
            return
        self.row_losses = rows_of(loss, self.rows)
        if self.row_losses is not None:
            self.outlying(self.row_losses.tolist())

    def read_usual(self, loss: Tensor) -> None:
        """Loss of each row of the step before: what is usual."""
        if self.rows and self.usual_rows is None:
            self.usual_rows = rows_of(loss, self.rows)

    def outlying(self, values: list[float]) -> None:
        """Rows beyond everything the healthy batch before had; where that is not known, beyond the others of their own batch.

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


def rows_of(loss: Tensor, rows: int) -> Tensor | None:
    """Loss of each row as the loss function saved it; None where it cannot be told."""
    node = loss_node(loss.grad_fn)
    found = row_losses(node, rows) if node is not None else None
    return found.detach().clone() if found is not None else None


def relative(now: Tensor, before: Tensor) -> float:
    """The length of a change relative to the norm before it, 0..; L2."""
    change, size = float((now.detach() - before).float().norm()), float(before.float().norm())
    return change / size if size > 0 else 0.0
