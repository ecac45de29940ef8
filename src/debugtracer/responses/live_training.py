"""The training in flight, as far as a response may change it: what is put back, and what is written down."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import LastGood
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState, parameters, several_ranks
from debugtracer.recorder.state.copies import Copies, UpdateCopy
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.state.snapshot_ring import MAX_ROLLBACK_STEPS, SnapshotRing
from debugtracer.recorder.state.step_history import Snapshot
from debugtracer.recorder.state.window_state import WindowState, clear_gradients
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.recorder.tape.step_tape import Tape
from debugtracer.responses.attendance import COMES_S, Attendance
from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.capped_rate import CappedRate
from debugtracer.responses.lasting_responses import LastingResponses
from debugtracer.responses.lowered_rate import FACTOR, LOW, RAMP, LoweredRate
from debugtracer.responses.precursors import LEAST, USUAL, has_left_its_level, is_quiet, rates_around
from debugtracer.trace.step import StepLoss

# made at a parameter's first step; others make theirs when they are built (Adagrad), or hold step sizes (Rprop)
MOMENTS = frozenset(
    {
        *("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf"),
        *("momentum_buffer", "square_avg", "grad_avg", "acc_delta"),
    }
)


class LiveTraining:
    """One per process. Nothing here decides whether it should be done."""

    def __init__(
        self,
        state: RunState,
        tape: Tape,
        window: WindowState,
        copies: Copies,
        ring: SnapshotRing,
        batches: BatchLog,
        output: Output,
        disabled: Callable[[], contextlib.AbstractContextManager[Any]],
        last_good: LastGood,
        attendance: Attendance,
        wait_for_word: Callable[[float], str],
        step_losses: Callable[[], Iterable[StepLoss]],
        gradient_norms: Callable[[], Iterable[float]],
        went_back: Callable[[int | None], None],
    ) -> None:
        """Join what may be put back; in the context of `disabled` no hook of ours listens. `wait_for_word` takes the
        seconds that a person has and gives `resume` or `stop`; `step_losses` gives the last steps, oldest first, and
        `gradient_norms` theirs; `went_back` takes the step whose state was put back, None
        where the last update alone was taken back."""
        self.state, self.tape, self.window = state, tape, window
        self.copies, self.ring, self.batches = copies, ring, batches
        self.output, self.disabled, self.last_good = output, disabled, last_good
        self.step_losses, self.gradient_norms, self.went_back = step_losses, gradient_norms, went_back
        self.lasting = LastingResponses()
        self.agreed: int | None = None
        """The step of the snapshot that several ranks go back to together."""
        self.attendance = attendance
        self.wait_for_word = wait_for_word

    def leave_out(self, optimizer: Optimizer) -> list[str]:
        """Put back what the batches of this window have changed; the answer names it."""
        put_back = self.window.put_back()
        clear_gradients(parameters(optimizer))
        self.state.health.held(self.state.step, self.state.iteration)
        self.tape.current.refused = "its update was left out, and what its batches had changed was put back"
        return [*put_back, "gradients"]

    def weights_are_bad(self, optimizer: Optimizer) -> bool:
        """True if a parameter is not finite. Syncs the host."""
        return not all_finite(parameters(optimizer))

    def samples(self) -> tuple[int, ...] | None:
        """The dataset indices of the batches in this window; None where they are not known."""
        self.tape.record_deferred()
        found: dict[int, Batch] = {}
        self.batches.adopt(leaf.tensor for leaf in self.tape.all_leaves())
        for leaf in self.tape.all_leaves():
            hit = self.batches.find(leaf.tensor)
            if hit is not None:
                found[id(hit[0])] = hit[0]
        last = self.batches.last()
        if not found and last is not None:
            found[id(last)] = last  # a batch that was moved or changed before the model got it
        known = [batch.indices for batch in found.values() if batch.indices is not None]
        return tuple(dict.fromkeys(index for indices in known for index in indices)) if known else None

    def good_copy(self, optimizer: Optimizer) -> UpdateCopy | None:
        """The copy from before the last update of this optimizer, where there is one without a bad value."""
        copy = self.copies.get(optimizer)
        if copy is None or several_ranks():
            return None
        kept = [value for state in copy.state.values() for value in state.values()]
        return copy if all_finite((*copy.values, *kept)) else None

    def good_weights(self, optimizer: Optimizer) -> UpdateCopy | None:
        """The copy from before the last update whose weights are good, whatever its moments are."""
        copy = self.copies.get(optimizer)
        return copy if copy is not None and not several_ranks() and all_finite(copy.values) else None

    def good_steps(self) -> tuple[int, ...]:
        """The steps of the snapshots without a bad value that are not too long ago."""
        return self.ring.good_steps(self.state.step - MAX_ROLLBACK_STEPS)

    def agree_on(self, step: int | None) -> None:
        """Take the step whose snapshot all ranks hold; None where they hold none together."""
        self.agreed = step

    def good_snapshot(self) -> Snapshot | None:
        """The newest snapshot without a bad value that is not too long ago; of several ranks the one that they have
        agreed on."""
        if not several_ranks():
            return self.ring.newest_good(self.state.step - MAX_ROLLBACK_STEPS)
        return next((snapshot for snapshot in self.ring.held if snapshot.step == self.agreed), None)

    def undo(self, copy: UpdateCopy, optimizer: Optimizer) -> None:
        """Take the last update back, and what its batches had changed."""
        copy.restore()
        self.leave_out(optimizer)
        self.went_back(None)

    def go_back(self, snapshot: Snapshot, optimizer: Optimizer) -> None:
        """Put the state of a snapshot back; recorded steps and copies of what came after it are dropped."""
        with self.disabled():
            snapshot.go_back()
        clear_gradients([p for copy in snapshot.copies for p in copy.parameters])
        self.copies.skip(optimizer)
        self.ring.begin_with(snapshot)
        self.state.health.held(self.state.step, self.state.iteration)
        self.tape.current.refused = "the state was put back to that of an earlier step"
        self.went_back(snapshot.step)

    def make_good(self, bad: BadStep) -> str:
        """Put the newest state without bad values back, by one update where a copy is at hand; the answer says which,
        and is empty where there is none."""
        copy = self.good_copy(bad.optimizer) if bad.written else None
        if copy is not None:
            self.undo(copy, bad.optimizer)
            return "the update was taken back: weights, optimizer state, buffers and gradients are as before it"
        snapshot = self.good_snapshot()
        if snapshot is None:
            return ""
        self.go_back(snapshot, bad.optimizer)
        return (
            f"the state of step {snapshot.step} was put back (weights, optimizer, scheduler, scaler, buffers), "
            f"{bad.step - snapshot.step} updates are lost"
        )

    def save(self, *further: Optimizer) -> Path:
        """Write the present state as the last good one. Raises DebugTracerError."""
        live = {id(o): o for o in (*self.state.optimizers, *further)}.values()
        with self.disabled():
            return self.last_good.write(self.run_folder(), self.rank(), live)

    def save_later(self) -> float | None:
        """Have the present state written while training goes on; the answer: CPU seconds that this took the last time,
        None where that is not known or was not well done. Raises DebugTracerError."""
        with self.disabled():
            return self.last_good.write_later(self.run_folder(), self.rank(), list(self.state.optimizers))

    def end_saving(self) -> None:
        """Wait for a state that is being written, and note where it could not be."""
        self.last_good.background.finish()
        failed = self.last_good.background.failure()
        if failed is not None:
            self.output.note("responses", f"the last good state was not saved ({failed}); the one before it stays")

    def rank(self) -> int:
        """The number of this process among those that train: ranks that were started again write over their own states,
        whatever folders are taken."""
        return torch.distributed.get_rank() if several_ranks() else self.output.rank

    def several_optimizers(self) -> bool:
        """Whether more than one optimizer is alive."""
        return len(list(self.state.optimizers)) > 1

    def run_folder(self) -> Path:
        """The folder of the run. Raises DebugTracerError."""
        if self.output.folder is None:
            raise DebugTracerError("there is no run folder")
        return self.output.folder

    def quiet_snapshot(self) -> Snapshot | None:
        """The newest snapshot that is not too long ago, without a bad value, and with usual losses before it and on
        it; where they are not known, the oldest: the newer ones may hold what went wrong."""
        if several_ranks():
            return None
        after, losses = self.state.step - MAX_ROLLBACK_STEPS, list(self.step_losses())
        newest = self.ring.good(reversed(self.ring.held), after)
        return next((s for s in newest if is_quiet(losses, s.step)), None) or self.ring.oldest_good(after)

    def loss_had_risen(self) -> bool:
        """Whether the loss before the step in flight was far above its level."""
        return has_left_its_level(list(self.step_losses()), self.state.step)

    def go_back_slower(self, bad: BadStep) -> str:
        """Put an earlier state back, and lower the learning rates for a while; the answer says so. Where they have
        jumped since, that is what they are kept from."""
        snapshot = self.quiet_snapshot()
        if snapshot is None:
            return ""
        self.go_back(snapshot, bad.optimizer)
        self.lasting.end_lowered_rates()
        lost = bad.step - snapshot.step
        rates = rates_around(self.step_losses(), snapshot.step)
        self.lasting.keep_lowered(
            CappedRate(optimizer, lost + LOW, rates.before / rates.then) if rates.jumped else LoweredRate(optimizer)
            for copy in snapshot.copies
            if (optimizer := copy.optimizer())
        )
        slower = (
            f"the learning rate, which has risen to {rates.since:.3g} since, is held at {rates.before:.3g}, the "
            f"largest before, for {lost + LOW} steps"
            if rates.jumped
            else f"the learning rate is times {FACTOR:g} for {LOW} steps"
        )
        return (
            f"the state of step {snapshot.step} was put back (weights, optimizer, scheduler, scaler, buffers), "
            f"{lost} updates are lost; {slower}, and comes back in {RAMP}"
        )

    def half_precision_seen(self) -> bool:
        """Whether the window in flight was computed under autocast; True too where the tape rests and does not know."""
        self.tape.record_deferred()
        return self.tape.current.rested or any(entry.autocast for entry in self.tape.current.entries)

    def usual_gradient(self) -> float | None:
        """The median of the last finite norms of the gradient; None where there are too few."""
        known = [norm for norm in self.gradient_norms() if math.isfinite(norm)][-USUAL:]
        return statistics.median(known) if len(known) >= LEAST else None

    def moments_stay(self, optimizer: Optimizer) -> str:
        """Why the moments cannot be forgotten, one clause; empty where the optimizer makes them anew by itself."""
        held = {key for kept in optimizer.state.values() for key in kept}
        others = ", ".join(sorted(map(str, held - MOMENTS)))
        return f"{type(optimizer).__name__} would not make {others} anew" if others else ""

    def forget_moments(self, optimizer: Optimizer) -> None:
        """Let an optimizer begin anew at its next step; its weights and settings stay."""
        for parameter in parameters(optimizer):
            optimizer.state.pop(parameter, None)
        self.copies.skip(optimizer)

    def wait(self) -> str:
        """Wait for a person, several ranks together; the word that came, `stop` where none did."""
        # a page that was closed meanwhile leaves the usual time; ranks that could not agree on it get none
        return self.wait_for_word(self.attendance.wait_s() or (0.0 if several_ranks() else COMES_S))

    def write_last_good(self, *optimizers: Optimizer) -> str:
        """Write the present state as the last good one; the answer says where it lies, or why it could not be."""
        try:
            path = self.save(*optimizers)
        except DebugTracerError as error:
            return f"its state was not written: {error}"
        return f"its last good state is {path}"
