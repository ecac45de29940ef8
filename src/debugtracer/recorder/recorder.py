"""The recorder: what the probes report becomes the tape, the counters and the alarms of one process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.entry import Entry, Leaf, tensors
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.rng import RngState
from debugtracer.recorder.roots import Root, Roots, RootState
from debugtracer.recorder.tape import Tape

MAX_BACKWARDS = 4096  # backward calls without an update; a loop above it updates by means that we do not see (ours)
MOST_SILENT = 8  # root calls without a graph in one segment; a distillation step has one or two (ours)


class Recorder:
    """One per process. Methods named `on_*` are called by the probes; user code never runs inside them."""

    def __init__(
        self,
        tape: Tape,
        alarm: Callable[[Alarm], None],
        measure: Callable[[Any], Tensor | None],
        frames: Callable[[], Any],
        owner_of: Callable[[nn.Module], nn.Module | None],
    ) -> None:
        self.tape = tape
        self.alarm = alarm
        self.measure = measure
        """Fused L2 norm of tensors, one scalar on their device (the canary)."""
        self.frames = frames
        self.owner_of = owner_of
        self.roots = Roots()
        self.states: dict[int, list[RootState]] = {}
        """Segment number -> state of each root before its first call in it."""
        self.iteration = self.step = 0
        self.pending: tuple[nn.Module, Root, Entry] | None = None
        self.suspend: Callable[[], bool] = lambda: False
        self.resume: Callable[[bool], None] = lambda popped: None
        self.marks: list[bool] = []
        self.unscaled: Callable[[Tensor], Tensor] = lambda tensor: tensor
        self.on_first_backward: Callable[[], None] | None = None
        self.on_built: Callable[[], None] = lambda: None
        self.publish: Callable[[int, dict[str, float]], None] = lambda step, values: None
        """Receives the numbers of a step that has no optimizer."""
        self.last_loss: Tensor | None = None
        self.has_optimizer = self.fetched = False
        self.forward_since = False
        """A root forward ran since the last backward: what fails now belongs to the next iteration."""
        self.own_s = 0.0
        self.quiet_until_healthy = False
        """An incident was opened: no further one until a healthy step was seen."""

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Time spent in our code."""
        begin = perf_counter()
        try:
            with measuring(self.roots.sharded):
                yield
        finally:
            self.own_s += perf_counter() - begin

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Free calls are not taped inside."""
        popped = self.suspend()
        try:
            yield
        finally:
            self.resume(popped)

    def on_fetch(self) -> None:
        """A batch was fetched: what was recorded without a graph belongs to no update."""
        self.fetched = True
        self.tape.cut(self.iteration, self.step)

    def on_enter(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """An outermost module call begins: arguments, generator state and moving buffers are kept."""
        self.marks.append(self.suspend())
        self.forward_since = True
        with self.owned():
            self.pending = None
            self.count_silent_call()
            root = self.roots.get(module)
            if root is None:
                if not self.has_optimizer and not self.fetched:
                    self.tape.cut(self.iteration, self.step)  # what built the model is no part of a step
                root = self.roots.add(module, self.owner_of(module))
            self.keep_state(root)
            entry = self.tape.open("module", module, args, {}, rng=RngState(torch_only=root.draws.torch_only))
            if root.mutates_inputs:
                entry.copy_inputs()
            self.pending = (module, root, entry)

    def count_silent_call(self) -> None:
        """Calls without a graph (a teacher, a generation): a long row of them belongs to no update and its tensors are let go."""
        segment = self.tape.current
        segment.silent_calls += not torch.is_grad_enabled()
        if segment.silent_calls > MOST_SILENT:
            self.tape.cut(self.iteration, self.step)

    def keep_state(self, root: Root) -> None:
        """Buffers and counters before the first call of this root in the segment."""
        number = self.tape.current.number
        kept = self.states.setdefault(number, [])
        for old in [n for n in self.states if n < number - 1]:
            del self.states[old]
        if not any(state.root is root for state in kept):
            kept.append(root.before())

    def on_leave(self, module: nn.Module, kwargs: dict[str, Any], output: Any, failed: bool) -> None:
        """It ended: the entry joins the tape."""
        try:
            if self.pending is not None and not failed:
                self.left(module, kwargs, output, self.pending)
        finally:
            self.pending = None
            if self.marks:
                self.resume(self.marks.pop())

    def left(self, module: nn.Module, kwargs: dict[str, Any], output: Any, pending: tuple[nn.Module, Root, Entry]) -> None:
        """A root call that gave something."""
        with self.owned():
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

    def watch_output(self, module: nn.Module, root: Root, output: Any) -> None:
        """A root output that no backward will follow: NaN is an alarm, infinities are looked into once."""
        with self.owned():
            floats = [t for t in tensors(output) if t.is_floating_point() and t.device.type == "cpu"]
            norm = self.measure(floats) if floats and root.has_parameters else None
            value = 0.0 if norm is None else float(norm.item())
        if math.isfinite(value) or (math.isinf(value) and root.deliberate_inf) or self.quiet_until_healthy:
            return
        if math.isinf(value) and all(bool(torch.isfinite(t).all()) for t in floats):
            return  # only the norm overflowed
        segment = self.tape.current
        self.alarm(Alarm("nan_output", segment, self.iteration, self.step, output=output, module=module, frames=self.frames(), previous=self.tape.previous))

    def on_peek(self, loss: Tensor) -> None:
        """The user looks at a bad loss: the alarm comes before their reaction. The loss of an empty batch is a look, not a step."""
        if any(leaf.tensor.numel() == 0 for leaf in self.tape.all_leaves()):
            return
        self.alarm_loss(loss, float(loss.detach().item()), peeked=True)

    def on_backward(self, given: list[Tensor], grad_tensors: Any, options: dict[str, Any]) -> bool:
        """An outermost backward begins; its loss is decided here on CPU, at the gate elsewhere (no sync)."""
        popped = self.suspend()
        with self.owned():
            if self.on_first_backward is not None:
                first, self.on_first_backward = self.on_first_backward, None
                first()
            entry = self.tape.open("backward", None, (given, grad_tensors), options)
            loss = self.unscaled(given[0])
            self.last_loss = loss.detach()
            self.tape.current.losses.append((self.last_loss, self.tape.slot(loss)))
            value = self.loss_value(self.last_loss)
        try:
            if value is not None and not math.isfinite(value):
                self.alarm_loss(loss, value)
        finally:
            self.tape.close(entry, None)
            self.tape.current.backwards.append(entry.index)
            if len(self.tape.current.backwards) > MAX_BACKWARDS:
                self.tape.overflow()
            self.iteration += 1
            self.forward_since = False
        return popped

    def loss_value(self, loss: Tensor) -> float | None:
        """The loss where reading it needs no sync (CPU); for a vector the norm, exact when that overflows."""
        if loss.device.type != "cpu" or not loss.is_floating_point() or type(loss).__name__ == "FakeTensor":
            return None
        if loss.numel() == 1:
            return float(loss.item())
        norm = self.measure([loss])
        value = 0.0 if norm is None else float(norm.item())
        return 0.0 if math.isinf(value) and bool(torch.isfinite(loss).all()) else value

    def alarm_loss(self, loss: Tensor, value: float, peeked: bool = False) -> None:
        """A non-finite loss, before its backward."""
        if self.quiet_until_healthy:
            return
        segment = self.tape.current
        self.alarm(
            Alarm(
                "nan_loss",
                segment,
                self.iteration,
                self.step,
                microbatch=len(segment.backwards),
                loss=loss,
                slot=self.tape.slot(loss),
                loss_value=value,
                frames=self.frames(),
                previous=self.tape.previous,
                peeked=peeked,
            )
        )

    def after_backward(self, popped: bool | None, failed: bool = False) -> None:
        """It ended; one that failed ends no step."""
        if popped is None:
            return  # it never began: the alarm stopped it
        self.resume(popped)
        if not self.has_optimizer and not failed and self.tape.current.backwards:
            self.by_hand()

    def by_hand(self) -> None:
        """No optimizer was ever built: the loop updates its tensors itself, so each backward ends a step."""
        with self.paused():
            loss = self.loss_value(self.last_loss) if self.last_loss is not None else None
            if loss is not None:
                self.publish(self.iteration - 1, {"loss": loss})
            self.boundary()
        self.quiet_until_healthy = self.quiet_until_healthy and not (self.last_loss is not None and math.isfinite(self.loss_value(self.last_loss) or 0.0))

    def on_optimizer(self) -> None:
        """An optimizer was built: its step ends a step, what was recorded before built the model, and a model trained before may be let go."""
        self.has_optimizer = True
        self.tape.begin(self.iteration, self.step)
        self.on_built()

    def on_custom_function(self, apply: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A custom autograd.Function called by the loop itself; the call is the user's and runs unguarded."""
        with self.paused():
            entry = self.guarded(lambda: self.tape.open("fn", apply, args, kwargs, rng=RngState(torch_only=True)))
            output = apply(*args, **kwargs)
            if entry is not None:
                self.guarded(lambda: self.tape.close(entry, output))
        return output

    def on_quiet_call(self, kind: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Clip, zero_grad, scale: one entry, nothing inside it is taped."""
        with self.paused():
            entry = self.guarded(lambda: self.tape.open(kind, function, args, kwargs, encoded=kind in ("clip", "zero_grad")))
            output = function(*args, **kwargs)
            if entry is not None:
                self.guarded(lambda: self.tape.close(entry, output))
        return output

    def guarded(self, action: Callable[[], Any]) -> Any:
        """Our part of a user's call."""
        try:
            with self.owned():
                return action()
        except StoppedByTracer:
            raise
        except Exception as error:
            self.tape.current.refused = f"recording failed ({type(error).__name__})"
            swallow("recorder", error)
            return None

    def boundary(self) -> None:
        """The update was written or skipped: a new segment."""
        self.tape.boundary(self.iteration, self.step)

    @property
    def iteration_in_flight(self) -> int:
        """The iteration a crash belongs to (DESIGN 3.3)."""
        return self.iteration if self.forward_since else max(self.iteration - 1, 0)

    def forget(self) -> None:
        """A forked child, and a run after another one, start from nothing."""
        self.settle()
        self.iteration = self.step = 0
        self.own_s, self.quiet_until_healthy = 0.0, False

    def settle(self) -> None:
        """No step is in flight."""
        self.tape.forget()
        self.states.clear()
        self.marks.clear()
        self.pending = self.last_loss = None
        self.forward_since = False
