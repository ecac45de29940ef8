"""A step whose device died executed again on the host, with weights of the same shapes: CUDA says only that an index
was outside, the host says which call refused it."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.devices.present import names
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot, mapped
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan
from debugtracer.replay.rewind import eager, hushed

OUTSIDE = re.compile(r"out of (range|bounds)")
SKIPPED = frozenset({"backward", "step", "clip", "zero_grad", "unscale"})
SPREAD = 0.02  # standard deviation of weights whose values lie on a device that is gone (ours)


class Refused(NamedTuple):
    """What the host said of a call, and the call."""

    error: BaseException
    entry: Entry


def refused_on_host(segments: Sequence[Segment], batches: BatchLog) -> Refused | None:
    """Execute the calls of these steps on the host, in their order, since a device may be heard of a step late; the
    first call that refuses an index there, None where all pass.

    Raises ReplayRefused where a call of the last fails in another way. Reads nothing from the device."""
    for segment in segments[:-1]:
        try:
            refused = refused_in(segment, batches)
        except ReplayRefused:  # what an earlier step held may be gone
            continue
        if refused is not None:
            return refused
    return refused_in(segments[-1], batches)


def refused_in(segment: Segment, batches: BatchLog) -> Refused | None:
    """The same of one step."""
    part = Segment(segment.number)
    part.entries = [entry for entry in segment.entries if entry.kind not in SKIPPED]
    run = HostExecution(part, batches)
    with torch.random.fork_rng(devices=[]), torch.no_grad(), eager(), hushed():
        try:
            run.run()
        except ReplayRefused as refused:
            if not OUTSIDE.search(str(refused.__cause__)) or refused.__cause__ is None or run.entry is None:
                raise
            return Refused(refused.__cause__, run.entry)
    return None


class HostExecution(Reexecution):
    """Batches come as their loader delivered them; weights are drawn."""

    def __init__(self, segment: Segment, batches: BatchLog) -> None:
        super().__init__(ReplayPlan([segment]), lambda *args: None)
        self.batches = batches
        self.twins: dict[int, nn.Module] = {}
        self.drawn: dict[int, Tensor] = {}
        self.entry: Entry | None = None
        """The call in flight."""

    def autocasts(self, entry: Entry) -> tuple[tuple[str, torch.dtype], ...]:
        """Return none: the host need not compute as the device did."""
        return ()

    def seed(self, entry: Entry) -> None:
        """Leave the generators of the device alone."""

    def call(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """The same call with everything on the host."""
        self.entry = entry
        args, kwargs = mapped((args, kwargs), on_cpu, (torch.device, str), depth=7)
        if entry.kind == "module":
            return self.twin(unwrapped(entry.function))(*args, **kwargs)
        if getattr(entry.function, "__name__", "") in ("to", *names()):
            dtypes = [value for value in (*args[1:], *kwargs.values()) if isinstance(value, torch.dtype)]
            return args[0].to(*dtypes[:1]) if dtypes else args[0]
        return entry.function(*args, **kwargs)

    def resolve(self, reference: Slot | Leaf) -> Tensor:
        """The tensor behind a reference, on the host."""
        return super().resolve(reference) if isinstance(reference, Slot) else self.on_host(reference.tensor)

    def on_host(self, tensor: Tensor) -> Tensor:
        """What a tensor held before it went to the device; drawn where nobody knows, which no call refuses."""
        if tensor.device.type == "cpu":
            return self.held(tensor, tensor.detach().clone())  # a call may write into it
        hit = self.batches.find(tensor)
        leaf = dict(hit[0].tensors()).get(hit[1]) if hit is not None else None
        if leaf is not None and leaf.shape == tensor.shape and leaf.device.type == "cpu":
            return self.held(leaf, leaf.detach().to(tensor.dtype, copy=True))
        return self.like(tensor)

    def held(self, leaf: Tensor, copied: Tensor) -> Tensor:
        """The copy, known as what its batch holds: a later one may have come meanwhile."""
        if self.batches.find(leaf) is not None:
            self.batches.moved(leaf, copied)
        return copied

    def like(self, tensor: Tensor, variance: bool = False) -> Tensor:
        """A tensor of the host of the same shape: small numbers, ones where it may be a variance, zeros of whole
        numbers."""
        if id(tensor) not in self.drawn:
            empty = torch.zeros(tensor.shape, dtype=tensor.dtype)
            if tensor.is_floating_point():
                empty = empty.fill_(1.0) if variance else empty.normal_(0.0, SPREAD)
            self.drawn[id(tensor)] = empty
        return self.drawn[id(tensor)]

    def twin(self, module: nn.Module) -> nn.Module:
        """The module with such weights; what it holds beside them is copied."""
        if id(module) not in self.twins:
            held = [*module.parameters(), *module.buffers()]
            memo: dict[int, Any] = {
                id(t): nn.Parameter(self.like(t), t.requires_grad and t.is_floating_point())
                if isinstance(t, nn.Parameter)
                else self.like(t, variance=True)
                for t in held
                if t.device.type != "cpu"
            }
            self.twins[id(module)] = copy.deepcopy(module, memo)
        return self.twins[id(module)]


def on_cpu(value: Any) -> Any:
    """The host in place of a device, in whichever form a call names one."""
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return "cpu" if value.partition(":")[0] in names() else value
