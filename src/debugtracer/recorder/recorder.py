"""The recorder: what the hooks report becomes the tape, the counters and the alarms of one process."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import owner_module, raw_frames, raw_traceback
from debugtracer.callsites.module_call import keywords_of
from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.gate.norms import loss_value, scalar, total_l2
from debugtracer.recorder.listeners import AlarmListener, RunOpener
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.roots import Root
from debugtracer.recorder.tape.entry import Entry, Leaf, tensors
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.silent_rounds import MOST_SILENT
from debugtracer.recorder.tape.step_tape import Tape

MAX_BACKWARDS = 4096  # backward calls without an update; a loop above it updates by means that we do not see (ours)


class Recorder:
    """One per process. Methods named `on_*` are called by the probes; user code never runs inside them."""

    def __init__(self, state: RunState, tape: Tape, stack: ModeStack, alarms: AlarmListener, run: RunOpener) -> None:
        self.state, self.tape, self.stack = state, tape, stack
        self.alarms, self.run = alarms, run
        self.pending: tuple[nn.Module, Root, Entry] | None = None
        self.failed: Entry | None = None
        """The root call that raised last, until the next one begins."""
        self.marks: list[bool] = []

    def on_fetch(self) -> None:
        """Called when a batch was fetched: what was recorded without a graph belongs to no update."""
        self.state.fetched_at = self.state.iteration
        self.tape.cut(self.state.iteration, self.state.step)

    def on_enter(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Called when an outermost module call begins; keeps arguments, generator state and moving buffers."""
        self.marks.append(self.stack.suspend())
        self.state.forward_since = True
        self.pending = self.failed = None
        if self.tape.current.rested:
            if torch.is_grad_enabled():
                self.enter_rested(module, args)
            return
        with self.state.owned():
            self.count_silent_call()
            root = self.state.roots.get(module)
            if root is None:
                if not self.state.has_optimizer and self.state.fetched_at < 0:
                    self.tape.cut(self.state.iteration, self.state.step)  # what built the model is no part of a step
                root = self.state.roots.add(module, owner_module(module))
            self.keep_state(root)
            entry = self.tape.open("module", module, args, {}, rng=RngState(torch_only=root.draws.torch_only))
            swapped = root.swapped(module)
            if swapped:
                entry.swapped = self.tape.encode(swapped)
            if root.mutates_inputs:
                entry.copy_inputs()
            self.pending = (module, root, entry)

    def enter_rested(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Record a root call while the tape rests: its forward can be executed again, with other random numbers."""
        with self.state.owned():
            root = self.state.roots.get(module)
            if root is not None and not root.mutates_inputs:
                self.pending = (module, root, self.tape.open("module", module, args, {}))

    def count_silent_call(self) -> None:
        """Count calls without a graph (a teacher, a generation); a long row of them belongs to no update and is
        dropped."""
        segment = self.tape.current
        if not torch.is_grad_enabled():
            segment.silent_calls += 1
            self.tape.rounds.begin()
        if segment.silent_calls > MOST_SILENT:
            self.tape.cut(self.state.iteration, self.state.step)

    def keep_state(self, root: Root) -> None:
        """Keep buffers and counters from before the first call of this root in the segment."""
        number = self.tape.current.number
        kept = self.state.root_states.get(number)
        if kept is None:
            kept = self.state.root_states[number] = []
            for old in [n for n in self.state.root_states if n < number - 1]:
                del self.state.root_states[old]
        if not any(state.root is root for state in kept):
            kept.append(root.before())

    def on_leave(self, module: nn.Module, kwargs: dict[str, Any], output: Any, failed: bool) -> None:
        """Called when an outermost module call has ended; appends its entry to the tape."""
        try:
            if self.pending is not None and not failed:
                self.left(module, kwargs, output, self.pending)
            elif self.pending is not None:
                self.failed = self.pending[2]
        finally:
            self.pending = None
            if self.marks:
                self.stack.resume(self.marks.pop())

    def left(
        self, module: nn.Module, kwargs: dict[str, Any], output: Any, pending: tuple[nn.Module, Root, Entry]
    ) -> None:
        """Record a root call that returned an output."""
        with self.state.owned():
            _, root, entry = pending
            entry.kwargs = self.tape.encode(kwargs)
            self.tape.close(entry, output)
            for reference in entry.references():
                if isinstance(reference, Leaf) and reference.moved:
                    reference.lost, root.mutates_inputs = True, True
            root.after()
            if entry.rng is not None:
                root.draws.after(entry.rng)
        if not torch.is_grad_enabled():
            self.watch_output(module, root, output)

    def on_raised(self, error: BaseException) -> Alarm | None:
        """Called when the program dies of an exception about its values; the root call that raised it joins the tape.
        None where a bad value was told of before."""
        if self.state.quiet_until_healthy:
            return None
        self.join_failed(error)
        return Alarm(
            "crash",
            self.tape.current,
            self.state.iteration,
            self.state.step,
            microbatch=len(self.tape.current.backwards),
            frames=raw_traceback(error),
            previous=self.tape.previous,
        )

    def join_failed(self, error: BaseException) -> None:
        """Put the root call that raised on the tape."""
        if self.failed is not None:
            entry, self.failed = self.failed, None
            with self.state.owned():
                entry.kwargs = self.tape.encode(keywords_of(error, entry.function))
                self.tape.close(entry, None)

    def watch_output(self, module: nn.Module, root: Root, output: Any) -> None:
        """Check a root output that no backward will follow: NaN is an alarm, infinities are investigated once."""
        with self.state.owned():
            floats = [t for t in tensors(output) if t.is_floating_point() and t.device.type == "cpu"]
            norm = total_l2(floats) if floats and root.has_parameters else None
            value = 0.0 if norm is None else scalar(norm)
        if math.isfinite(value) or (math.isinf(value) and root.deliberate_inf) or self.state.quiet_until_healthy:
            return
        if math.isinf(value) and all(bool(torch.isfinite(t).all()) for t in floats):
            return  # only the norm overflowed
        segment = self.tape.current
        self.alarms.open(
            Alarm(
                "nan_output",
                segment,
                self.state.iteration,
                self.state.step,
                output=output,
                module=module,
                frames=raw_frames(),
                previous=self.tape.previous,
            )
        )

    def on_peek(self, loss: Tensor) -> None:
        """Called when the user reads a bad loss; the alarm comes before their reaction. An empty batch's loss is no
        step."""
        if any(leaf.tensor.numel() == 0 for leaf in self.tape.all_leaves()):
            return
        self.alarm_loss(loss, float(loss.detach().item()), peeked=True)

    def on_backward(self, given: list[Tensor], grad_tensors: Any, options: dict[str, Any]) -> bool:
        """Called when an outermost backward begins; its loss is judged here on CPU, before the update elsewhere (no
        sync)."""
        popped = self.stack.suspend()
        with self.state.owned():
            self.run.open()
            entry = self.tape.open("backward", None, (given, grad_tensors), options)
            loss = self.state.scaled.unscaled(given[0])
            self.state.last_loss = latest = loss.detach()
            self.tape.current.losses.append((latest, self.tape.slot(loss)))
            value = loss_value(latest)
        try:
            if value is not None and not math.isfinite(value):
                self.alarm_loss(loss, value)
        finally:
            self.tape.close(entry, None)
            self.tape.current.backwards.append(entry.index)
            if len(self.tape.current.backwards) > MAX_BACKWARDS:
                self.tape.overflow()
            self.state.iteration += 1
            self.state.forward_since = False
        return popped

    def alarm_loss(self, loss: Tensor, value: float, peeked: bool = False) -> None:
        """Raise the alarm of a non-finite loss, before its backward."""
        if self.state.quiet_until_healthy:
            return
        segment = self.tape.current
        self.alarms.open(
            Alarm(
                "nan_loss",
                segment,
                self.state.iteration,
                self.state.step,
                microbatch=len(segment.backwards),
                loss=loss,
                slot=self.tape.slot(loss),
                loss_value=value,
                frames=raw_frames(),
                previous=self.tape.previous,
                peeked=peeked,
            )
        )

    def after_backward(self, popped: bool | None, failed: bool = False) -> None:
        """Called when a backward has ended; one that failed ends no step."""
        if popped is None:
            return  # it never began: the alarm stopped it
        self.stack.resume(popped)

    def on_optimizer(self) -> None:
        """Called when an optimizer was built: its step ends a step, and what was recorded before belongs to no step."""
        if not self.state.has_optimizer:
            self.state.step = self.state.own_updates
        self.state.has_optimizer = True
        self.tape.begin(self.state.iteration, self.state.step)

    def on_custom_function(self, apply: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A custom autograd.Function called by the loop itself; the call is the user's and runs unguarded."""
        with self.stack.paused():
            entry = self.guarded(lambda: self.tape.open("fn", apply, args, kwargs, rng=RngState(torch_only=True)))
            output = apply(*args, **kwargs)
            if entry is not None:
                self.guarded(lambda: self.tape.close(entry, output))
        return output

    def on_quiet_call(self, kind: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Clip, zero_grad, scale: one entry, nothing inside it is taped."""
        with self.stack.paused():
            entry = self.guarded(
                lambda: self.tape.open(kind, function, args, kwargs, encoded=kind in ("clip", "zero_grad"))
            )
            output = function(*args, **kwargs)
            if entry is not None:
                self.guarded(lambda: self.tape.close(entry, output))
        return output

    def guarded(self, action: Callable[[], Any]) -> Any:
        """Run our part of a user's call; what fails is counted and the segment is not replayed."""
        try:
            with self.state.owned():
                return action()
        except StoppedByTracer:
            raise
        except Exception as error:
            self.tape.current.refused = f"recording failed ({type(error).__name__})"
            swallow("recorder", error)
            return None

    def rest(self, rests: bool) -> None:
        """Record no calls from the next segment on, or record them again; losses and gradients are judged anyway."""
        self.tape.rest(rests)
        self.stack.rest(rests)

    def wake(self) -> None:
        """Record the step that begins now, although the tape rests."""
        if self.tape.current.rested:
            self.rest(False)
            self.tape.start(self.state.iteration, self.state.step)

    def boundary(self) -> None:
        """Start a new segment: the update was written or skipped."""
        self.tape.boundary(self.state.iteration, self.state.step)

    def reset(self) -> None:
        """Reset counters and tape, in a forked child and between two runs."""
        self.settle()
        self.state.reset()

    def settle(self) -> None:
        """Drop the step in flight."""
        self.tape.reset()
        self.state.settle()
        self.marks.clear()
        self.pending = self.failed = None
