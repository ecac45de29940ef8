"""The tape executed again with the changes an intervention has asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot, tensors
from debugtracer.recorder.tape.functions import FunctionMeaning, meaning, property_name
from debugtracer.recorder.tape.step_tape import address
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_plan import ReplayPlan


class ChangedExecution(Reexecution):
    """One run over a plan with one thing changed."""

    def __init__(self, plan: ReplayPlan, backward: Callable[..., Any], rerun: Rerun) -> None:
        super().__init__(plan, backward, self.surrounded)
        self.rerun = rerun
        self.given: dict[int, Tensor] = {}
        self.batch: set[int] = set()
        """Memory of the exchanged inputs and of what the loop has made of them before any model read it."""
        self.before_backward: Callable[[Tensor], None] = lambda loss: None
        """Called with the loss while its graph is whole."""

    @contextlib.contextmanager
    def surrounded(self, entry: Entry) -> Iterator[None]:
        """The contexts of the intervention around one call."""
        with contextlib.ExitStack() as stack:
            for around in self.rerun.around:
                stack.enter_context(around(entry))
            yield

    def autocasts(self, entry: Entry) -> tuple[tuple[str, torch.dtype], ...]:
        """The recorded autocast, or none when full precision is asked for."""
        return entry.autocast if self.rerun.autocast else ()

    def seed(self, entry: Entry) -> None:
        """Restore the recorded generator state, or set another seed for each call."""
        super().seed(entry)
        if self.rerun.seed is not None and entry.rng is not None:
            torch.manual_seed(self.rerun.seed * 1_000_003 + entry.index)

    def execute(self, entry: Entry) -> None:
        """Execute the entry unless its call is left out."""
        if entry.kind not in self.rerun.left_out:
            super().execute(entry)

    def resolve(self, reference: Slot | Leaf) -> Tensor:
        """The exchanged input where there is one."""
        if isinstance(reference, Leaf) and id(reference) in self.rerun.inputs:
            if id(reference) not in self.given:
                self.given[id(reference)] = (
                    self.rerun.inputs[id(reference)].detach().clone().requires_grad_(reference.tensor.requires_grad)
                )
            return self.given[id(reference)]
        if (
            isinstance(reference, Leaf)
            and self.rerun.cast is not None
            and not isinstance(reference.tensor, torch.nn.Parameter)
        ):
            return self.cast(reference)
        return super().resolve(reference)

    def cast(self, leaf: Leaf) -> Tensor:
        """An input in the dtype and on the device asked for; one tensor for each leaf."""
        if id(leaf) not in self.given:
            assert self.rerun.cast is not None
            value = super().resolve(leaf).detach()
            self.given[id(leaf)] = self.rerun.cast(value).requires_grad_(leaf.tensor.requires_grad)
        return self.given[id(leaf)]

    def call(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """An update that is part of the step has the settings of its time, then the changed ones."""
        if entry.kind == "fn" and self.rerun.inputs:
            return self.followed(entry, args, kwargs)
        if entry.kind == "backward":
            self.before_backward(args[0][0])
        if entry.kind == "step":
            optimizer = args[0]
            for group, then in zip(optimizer.param_groups, entry.settings, strict=False):
                group.update(then)
            gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
            for hook in self.rerun.on_gradients:
                hook(gradients)
            for change in self.rerun.on_update:
                change(optimizer)
            if self.rerun.step_by is not None:
                return self.rerun.step_by(optimizer)
        return super().call(entry, args, kwargs)

    def followed(self, entry: Entry, args: Any, kwargs: Any) -> Any:
        """A call of the loop, looked at for writes into the exchanged inputs and into what the loop has computed from
        them row by row."""
        held = self.batch | {address(self.given[key]) for key in self.rerun.inputs if key in self.given}
        self.batch = held - {0}
        if not self.rerun.overwritten and any(address(t) in self.batch for t in written(entry.function, args, kwargs)):
            line = self.rerun.line(entry)
            self.rerun.overwritten = (
                f"the step itself writes into this batch{f' at {line}' if line else ''}, so it overwrites whatever is "
                "put in its place"
            )
        taken = [t for t in tensors((args, kwargs)) if address(t) in self.batch]
        output = super().call(entry, args, kwargs)
        # a running sum that takes from the batch is no batch
        if meaning(entry.function) is not FunctionMeaning.INPLACE:
            rows = {t.shape[:1] for t in taken}
            self.batch |= {address(t) for t in tensors(output) if not t.requires_grad and t.shape[:1] in rows}
        return output


def written(function: Any, args: Any, kwargs: Any) -> list[Tensor]:
    """The tensors of the loop whose memory a call writes; a gradient that is set is no write into its tensor."""
    out = list(tensors(kwargs.get("out"))) if isinstance(kwargs, dict) else []
    if meaning(function) is not FunctionMeaning.INPLACE or property_name(function) == "grad":
        return out
    return [*(t for t in args[:1] if isinstance(t, Tensor)), *out]
