"""A step of which only loss and gradients are looked at: what is judged before its update, and its numbers, which are
published some steps at a time."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.errors import swallow
from debugtracer.recorder.gate.norms import loss_value
from debugtracer.recorder.gate.passed_steps import PassedSteps
from debugtracer.recorder.gate.resting_row import Row, as_published, row
from debugtracer.recorder.gate.step_call import left_out, with_closure
from debugtracer.recorder.gate.step_gate import StepGate
from debugtracer.recorder.governor import WORDS, Part
from debugtracer.recorder.listeners import NoPolicy, SegmentListener, StepNumbers
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.foreign_modes import dispatches, functions

number: Any = Tensor.tolist  # of a tensor with one
MOST = 256  # steps whose numbers are published together (ours)
CLIMBS = 8  # updates with a negative rate that are told: those of a few optimizers in turn (ours)
RELEASE_STEPS = 3  # steps after which a log of batches that takes none in holds none
# updates of which one has its gradients read where their norm rests (ours): a prime, so that of optimizers that take
# turns each is read
READ_EVERY = 7
LONGEST_S = 1.0  # seconds that they wait at most (ours): a live page is that old


class RestingSteps:
    """One per process. What is asked of every step stands in two functions, `take_loss` and `step`: each further call
    costs a microsecond where a step of training has emptied the caches."""

    def __init__(self, gate: StepGate, numbers: StepNumbers, batches: BatchLog) -> None:
        self.gate, self.numbers, self.batches = gate, numbers, batches
        self.recorder, self.state, self.health_gate = gate.recorder, gate.state, gate.health_gate
        self.renew = self.recorder.tape.renew
        self.skips = type(gate.policy).skip_step is not NoPolicy.skip_step
        """Who answers incidents may skip a step."""
        self.follows = type(gate.segments).update_over is not SegmentListener.update_over
        """Somebody is to hear of each update."""
        self.losses: list[tuple[float, torch.dtype] | Tensor] = []
        """Of each backward of the step in flight, what can be read of its loss without waiting, else the loss."""
        self.loss: float | None = None
        """The last of them that could be read."""
        self.grad_l2: float | None = None
        """Norm of the gradients at the last closure call of the step in flight; None where the gate decided."""
        self.woken = False
        """All works again, in the middle of a step."""
        self.sees_fetches = True
        """Batches do not rest."""
        self.to_release = 0
        """Steps after which batches that were fetched before they rested are let go."""
        self.rows: list[Row] = []
        self.due_s = 0.0
        """When they are published at the latest."""
        self.leaves_out = 0
        """After an update whose gradients were read, so many are left out: their norm rests."""
        self.to_leave_out = 0
        """How many of them are to come."""
        self.passed = PassedSteps(self.state, gate.events)
        self.climbed = 0
        """Updates with a rate below 0 that were told."""

    def begin(self) -> None:
        """Prepare for steps of which nothing is copied."""
        self.woken = False
        self.leaves_out = self.to_leave_out = 0
        self.passed.end()
        self.gate.copies.drop()

    def rest_calls(self, rests: bool) -> None:
        """Called where fetches are not seen any more, and where they are again."""
        self.sees_fetches, self.to_release = not rests, RELEASE_STEPS
        if not rests:
            self.passed.end()

    def take_loss(self, loss: Tensor) -> bool:
        """Keep the loss of a backward that begins; False, and nothing is kept, where it is not finite."""
        begin, state = perf_counter(), self.state
        if state.scaled.pairs:
            loss = state.scaled.unscaled(loss)
        if type(loss) is Tensor and loss.is_cpu and not loss.dim() and type(value := number(loss)) is float:
            if not isfinite(value):
                return False
            self.losses.append((value, loss.dtype))
            self.loss = state.last_loss = value
        else:
            latest = loss.detach()
            read = loss_value(latest)
            if read is not None and not isfinite(read):
                return False
            self.losses.append(latest)
            self.loss, state.last_loss = read, latest
        state.iteration += 1
        state.forward_since = False
        state.own_s += perf_counter() - begin
        return True

    def step(
        self, optimizer: Optimizer, original: Callable[..., Any], args: Any, kwargs: dict[str, Any], tells: bool
    ) -> Any:
        """Run a step whose gradients can be read at once and are good, else ask the gate; with `tells` the observers
        hear of its end."""
        begin = perf_counter()
        state, gate = self.state, self.gate
        if self.skips and gate.policy.skip_step():
            return None
        leaves_out = self.to_leave_out and not state.quiet_until_healthy
        grad_l2 = None if leaves_out or state.quiet_until_healthy else self.good_norm(optimizer)
        if grad_l2 is None and not leaves_out:
            return self.decided(optimizer, original, args, kwargs, tells)
        written = perf_counter()
        output = original(optimizer, *args, **kwargs)
        state.own_s += written - begin
        self.ended(optimizer, grad_l2, tells)
        return output

    def ended(self, optimizer: Optimizer, grad_l2: float | None, tells: bool, scale: float | None = None) -> None:
        """Count a step that was good, or, without a norm, one that is left out; its numbers are published later, with
        the loss scale if there is one. `close` is written out."""
        state, gate, rows = self.state, self.gate, self.rows
        lr = optimizer.param_groups[0].get("lr")
        climbs = type(lr) is float and lr < 0.0 and self.climbed < CLIMBS
        if tells or climbs:  # a rate that the loop writes itself is asked for by nobody else
            self.climbed += climbs
            gate.events.step_closed(optimizer)
        if id(optimizer) != state.stepped_by:
            gate.events.optimizer_changed(optimizer)
        state.stepped_by, state.stepped_at = id(optimizer), state.iteration
        ended = perf_counter()
        state.step_s, gate.last_s = ended - gate.last_s, ended
        if self.passed.passes:
            state.step_s = self.passed.looked_at(state.step_s)
        self.to_leave_out = self.to_leave_out - 1 if grad_l2 is None else self.leaves_out
        sees_fetches = self.sees_fetches
        wait_s = state.wait_s if sees_fetches else None
        values = state.step, state.iteration, grad_l2, self.loss, lr, state.step_s, state.own_s, wait_s, scale
        rows.append(row(values))
        state.step += 1
        state.wait_s, self.loss = 0.0, None
        self.losses.clear()
        self.renew(state.iteration, state.step)
        if sees_fetches or self.to_release:
            self.to_release -= 1
            self.batches.step_done()
        if self.follows:
            gate.segments.update_over()
        if len(rows) == 1:
            self.due_s = ended + LONGEST_S
        state.own_s += perf_counter() - ended
        if len(rows) >= MOST or ended > self.due_s or self.numbers.waiting():
            self.publish()

    def with_closures(
        self,
        optimizer: Optimizer,
        original: Callable[..., Any],
        closure: Callable[[], Any],
        args: Any,
        kwargs: dict[str, Any],
        tells: bool,
    ) -> Any:
        """Run a step that calls its loss itself: the gradients of each call are read before the optimizer uses
        them."""
        if self.skips and self.gate.policy.skip_step():
            return None
        self.grad_l2 = None

        def judged() -> Any:
            result = closure()
            self.closure_ended(optimizer)
            return result

        args, kwargs = with_closure(judged, args, kwargs)
        output = original(optimizer, *args, **kwargs)
        if self.grad_l2 is not None:
            self.ended(optimizer, self.grad_l2, tells)
            return output
        self.publish()
        if tells or self.woken:
            self.gate.events.step_closed(optimizer)
        self.gate.time_step()
        self.gate.count_step(optimizer)
        return output

    def closure_ended(self, optimizer: Optimizer) -> None:
        """Judge one call of the loss inside a step, or let the gate do it."""
        begin, state = perf_counter(), self.state
        asks_gate = self.woken or state.quiet_until_healthy
        self.grad_l2 = None if asks_gate else self.good_norm(optimizer)
        if self.grad_l2 is None:
            self.publish()
            self.record_losses()
            self.gate.judge_closure(optimizer)
            return
        self.losses.clear()
        self.renew(state.iteration, state.step)
        state.own_s += perf_counter() - begin

    def close(self, row: Row, now: float) -> None:
        """Keep the numbers of a step that is over, and begin the next; publish them where they have waited for long or
        something else is to go with them."""
        state, rows = self.state, self.rows
        rows.append(row)
        state.wait_s, self.loss = 0.0, None
        self.to_leave_out = self.to_leave_out - 1 if row.grad_l2 is None else self.leaves_out
        self.losses.clear()
        self.renew(state.iteration, state.step)
        if self.sees_fetches or self.to_release:
            self.to_release -= 1
            self.batches.step_done()
        if len(rows) == 1:
            self.due_s = now + LONGEST_S
        state.own_s += perf_counter() - now
        if len(rows) >= MOST or now > self.due_s or self.numbers.waiting():
            self.publish()

    def good_norm(self, optimizer: Optimizer) -> float | None:
        """The norm of the gradients, where it can be read at once and is finite; None: the gate decides."""
        groups = optimizer.param_groups
        of = groups[0]["params"] if len(groups) == 1 else parameters(optimizer)
        if not of or not of[0].is_cpu or self.state.roots.sharded or self.health_gate.gate != "auto":
            return None
        if functions() or dispatches():  # modes of the program: they must see nothing of ours
            return None
        try:
            value = self.health_gate.gradient_norm.read(of)
        except Exception as error:
            swallow("recorder.gate.resting_steps", error)
            return None
        return value if isfinite(value) else None

    def decided(
        self, optimizer: Optimizer, original: Callable[..., Any], args: Any, kwargs: dict[str, Any], tells: bool
    ) -> Any:
        """Run a step about which the gate decides: on a device, or with a norm that is not finite."""
        self.publish()
        self.record_losses()
        with self.health_gate.before(optimizer, weights=False):
            if self.gate.policy.skip_write():
                return None
            if self.state.health.bad and self.gate.policy.holds(optimizer):
                original = left_out
            output = original(optimizer, *args, **kwargs)
        if tells:
            self.gate.events.step_closed(optimizer)
        self.gate.time_step()
        self.gate.count_step(optimizer)
        return output

    def wake(self) -> None:
        """Publish what waits and hand over the step in flight: something works again."""
        self.woken = True
        if self.passed.end():  # what they took is no time of the step in flight
            self.gate.last_s = perf_counter()
        self.publish()
        self.record_losses()

    def record_losses(self) -> None:
        """Write the losses of the step in flight on the tape: something works again, or the gate decides."""
        segment, losses = self.recorder.tape.current, self.losses
        self.losses, self.loss = [], None
        for loss in losses:
            value = loss if isinstance(loss, Tensor) else torch.tensor(loss[0], dtype=loss[1])
            segment.losses.append((value, None))
            segment.backwards.append(len(segment.entries))
            self.state.last_loss = value

    def publish(self) -> None:
        """Publish what waits, and let the governor count it."""
        rows, self.rows = self.rows, []
        if rows:
            self.recorder.guarded(lambda: self.publish_rows(rows))

    def publish_rows(self, rows: list[Row]) -> None:
        """Publish steps in their order; what is due between two steps is done once."""
        self.numbers.publish_all(as_published(rows))
        governor, rested = self.gate.governor, self.state.rested
        passed, passed_s = self.passed.take()
        governor.steps_closed(sum([row.step_s for row in rows]) + passed_s, len(rows) + passed)
        left_out = [row.grad_l2 for row in rows].count(None)
        if left_out:
            rested[WORDS[Part.GRADIENTS]] = rested.get(WORDS[Part.GRADIENTS], 0) + left_out
        self.passed.rest(not (governor.affords(Part.STEPS) or self.sees_fetches))
        self.leaves_out = 0 if governor.affords(Part.GRADIENTS) or self.passed.each else READ_EVERY - 1
        self.recorder.rest(not governor.affords(Part.TAPE))
        self.gate.segments.segment_closed()

    def reset(self) -> None:
        """Begin anew, with nothing that waits."""
        self.rows, self.losses, self.loss, self.woken = [], [], None, False
        self.passed.reset()
