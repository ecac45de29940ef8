"""The tape executed again, entry by entry, with the modes and generators each call had."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.rerun import Around
from debugtracer.recorder.state.roots import unwrapped
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot, mapped, tensors
from debugtracer.recorder.tape.functions import GRAD_GET
from debugtracer.replay.replay_plan import ReplayPlan, written
from debugtracer.replay.stall import STILL, TICK_S, Stalled, broken_off


class Reexecution:
    """One run over a plan. Values of entries are kept until it is dropped."""

    def __init__(
        self, plan: ReplayPlan, backward: Callable[..., Any], around: Around = lambda entry: contextlib.nullcontext()
    ) -> None:
        self.plan = plan
        self.backward = backward
        """torch.autograd.backward as torch has it."""
        self.around = around
        """A context per entry: the op tracer's place."""
        self.values: dict[tuple[int, int], list[Tensor]] = {}
        self.fresh: dict[int, Tensor] = {}
        self.losses: dict[tuple[int, int], Tensor] = {}
        """(segment, entry) of each backward -> the tensor it started from."""
        self.reaches_live = False
        """A call was given a tensor that the program has computed itself: a backward from here goes on in a graph that
        is the program's, and must not free it."""

    def run(self, until: Entry | None = None) -> None:
        """Execute every entry, the last one given included. Raises ReplayRefused when a call fails that did not fail
        before."""
        begun: set[int] = set()
        for entry in self.plan.entries:
            try:
                with broken_off():
                    if entry.segment not in begun:
                        begun.add(entry.segment)
                        self.begin(entry.segment)
                    self.execute(entry)
            except Stalled:
                raise ReplayRefused(
                    f"executing {entry.kind} again waited {TICK_S * STILL:.0f} s for something that did not come"
                ) from None
            except (Exception, SystemExit) as error:
                raise ReplayRefused(
                    f"executing {entry.kind} again failed ({type(error).__name__}: {str(error)[:160]})"
                ) from error
            if entry is until:
                return

    def begin(self, number: int) -> None:
        """Give parameters that the loop writes in this segment their value from before it: modules read them first."""
        for leaf in (leaf for s in self.plan.segments if s.number == number for leaf in written(s)):
            self.resolve(leaf)

    def execute(self, entry: Entry) -> None:
        """Execute one entry under its own grad mode, autocast and generator state."""
        if entry.kind == "const":
            self.values[entry.segment, entry.index] = [self.resolve(leaf) for leaf in entry.args]
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(entry.grad))
            for device, dtype in self.autocasts(entry):
                stack.enter_context(torch.autocast(device, dtype=dtype))
            self.seed(entry)
            args, kwargs = self.decoded(entry.args), self.decoded(entry.kwargs)
            with self.around(entry):
                output = self.call(entry, args, kwargs)
        made = list(tensors(output))[: entry.outputs] if entry.outputs else []
        self.values[entry.segment, entry.index] = [*made, *(left_in(*side) for side in entry.sides)]

    def autocasts(self, entry: Entry) -> tuple[tuple[str, torch.dtype], ...]:
        """The devices and dtypes of autocast in this call."""
        return entry.autocast

    def seed(self, entry: Entry) -> None:
        """Restore the generator state that the call had."""
        if entry.rng is not None:
            entry.rng.restore()

    def call(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """What the entry stands for, executed on the spot."""
        if entry.kind == "module":
            module = unwrapped(entry.function)
            if entry.swapped:
                return torch.func.functional_call(module, self.decoded(entry.swapped), args, kwargs)
            return module(*args, **kwargs)
        if entry.kind == "backward":
            self.losses[entry.segment, entry.index] = args[0][0]
            return self.backward(*args, **(kwargs | {"retain_graph": True} if self.reaches_live else kwargs))
        if entry.kind == "unscale":
            return unscale(*args)
        if entry.function == GRAD_GET and args[0].grad is None:
            args[0].grad = torch.zeros_like(args[0])
        return entry.function(*args, **kwargs)

    def decoded(self, value: Any) -> Any:
        """Replace references in the arguments by tensors of this run."""
        return mapped(value, self.resolve, (Slot, Leaf), depth=7)

    def resolve(self, reference: Slot | Leaf) -> Tensor:
        """The tensor behind a reference."""
        if isinstance(reference, Slot):
            return self.values[reference.segment, reference.entry][reference.output]
        origin = reference.origin
        if origin is not None and (origin.segment, origin.entry) in self.values:
            return self.values[origin.segment, origin.entry][origin.output]
        if reference.saved is None:
            self.reaches_live |= reference.tensor.grad_fn is not None
            return reference.tensor
        if isinstance(reference.tensor, torch.nn.Parameter):
            if id(reference) not in self.fresh:
                reference.tensor.data.copy_(reference.saved)
                self.fresh[id(reference)] = reference.tensor
            return reference.tensor
        if id(reference) not in self.fresh:
            self.fresh[id(reference)] = reference.saved.clone().requires_grad_(reference.asked_grad)
        return self.fresh[id(reference)]


def left_in(module: Any, name: str, key: Any) -> Tensor:
    """What a module has left in an attribute."""
    value = getattr(module, name)
    found: Tensor = value if key is None else value[key]
    return found


def unscale(optimizer: Any, scaler: Any) -> None:
    """Unscale the gradients as GradScaler.unscale_ does, without its bookkeeping."""
    inverse = scaler._scale.double().reciprocal().float()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad.mul_(inverse.to(parameter.grad.device))


@contextlib.contextmanager
def scale_one(scaler: Any) -> Iterator[None]:
    """The loss scale set to 1 for a while."""
    if scaler is None or scaler._scale is None:
        yield
        return
    kept = scaler._scale.clone()
    scaler._scale.fill_(1.0)
    try:
        yield
    finally:
        scaler._scale.copy_(kept)
