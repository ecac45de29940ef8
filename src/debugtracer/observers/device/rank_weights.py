"""Checksums what each rank is about to update, where no DistributedDataParallel holds copies."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import distributed_c10d
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.origins.model_line import model_line
from debugtracer.callsites.unreached_exchange import unreached_exchange
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.observers.checkpoint.checksum import checksums
from debugtracer.observers.device.replicas import EVERY
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.rank_weights import RankWeights

MOST_LINES = 64  # that call collectives (ours)
COLLECTIVES = ("all_reduce", "all_gather", "broadcast", "reduce", "gather", "scatter", "barrier")


class RankWeightsObserver(Observer):
    """No collective and no exchange: each rank writes down its own, they are compared after the run. Deaf in a run of
    one process."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.numbers: ById[Optimizer, int] = ById()
        self.calls = self.elements = 0
        """Collectives that were seen, and the elements that they were given."""
        self.reached: set[tuple[str, int]] = set()
        """The lines that called them."""
        self.searched: Frame | None = None
        self.looked = False

    def install(self) -> None:
        """Count what is exchanged, where torch has collectives."""
        if dist.is_available():
            for name in COLLECTIVES:
                self.patches.wrap(dist, name, self.wrap)

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        """Drop the numbers of the optimizers, and what was counted."""
        self.numbers.clear()
        self.reached.clear()
        self.calls = self.elements = 0
        self.searched, self.looked = None, False

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a collective to count its elements."""

        @functools.wraps(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            self.count((*args, *kwargs.values()), sys._getframe(1))
            return original(*args, **kwargs)

        return collective

    @guarded("observers.device.rank_weights: a collective")
    def count(self, given: tuple[Any, ...], caller: Any) -> None:
        """Count one call and the elements of the tensors that it is given."""
        self.calls += 1
        self.elements += sum(value.numel() for value in given if isinstance(value, Tensor))
        if len(self.reached) < MOST_LINES:
            self.reached.add((caller.f_code.co_filename, caller.f_lineno))

    def step_begins(self, optimizer: Optimizer) -> None:
        """Read the weights before an update. Syncs the host where they are on a device."""
        if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2:
            self.run.unsubscribe(self.step_begins)
        elif self.run.inspecting or self.run.step % EVERY == 0:
            self.compare_sums(optimizer)

    def compare_sums(self, optimizer: Optimizer) -> None:
        """Emit checksums of what this optimizer writes; nothing where a wrapper holds a copy or a part of it."""
        if any(isinstance(part, DistributedDataParallel) for root in self.run.modules() for part in root.modules()):
            return
        held, names = list(parameters(optimizer)), self.run.names()
        if not held or any(type(p).__name__ == "DTensor" for p in held):
            return
        number, model = self.numbers.get(optimizer), None
        if number is None:
            number = self.numbers[optimizer] = len(self.numbers)
            stack = frames_of(self.run.state.optimizers.get(optimizer) or ())
            model = guarded("rank_weights.model")(model_line)(stack, type(optimizer).__name__)
        sizes = sum(p.numel() for p in held)
        self.run.emit(
            RankWeights(
                ref=self.run.ref("update", self.run.iteration - 1), optimizer=type(optimizer).__name__,
                built=self.run.built_at(optimizer), called=self.run.here(), number=number,
                names=tuple(names.get(id(p), f"parameter {place}") for place, p in enumerate(held)),
                before=checksums(held), grads_l2=norms(held), model=model, collectives=collectives(),
                calls=self.calls, elements=self.elements, held=sizes, unreached=self.unreached(sizes),
            )
        )  # fmt: skip

    def unreached(self, held: int) -> Frame | None:
        """The line that would exchange more, of a run that is past its first steps; searched once."""
        if not self.looked and self.run.step >= EVERY and self.elements < held:
            self.looked = True
            self.searched = guarded("rank_weights.unreached")(unreached_exchange)(self.reached)
        return self.searched


def collectives() -> int:
    """The collectives that this process has called over all its groups; -1 where a backend does not count them."""
    try:
        groups: list[Any] = list(distributed_c10d._world.pg_map)
        return sum(group._get_sequence_number_for_group() for group in groups)
    except (AttributeError, RuntimeError):
        return -1


def norms(held: list[Tensor]) -> tuple[float, ...]:
    """The L2 norm of each gradient; -1 where there is none or it is not finite. One host sync for all of them."""
    grads = {place: p.grad for place, p in enumerate(held) if p.grad is not None and not p.grad.is_sparse}
    if not grads:
        return (-1.0,) * len(held)
    home = next(iter(grads.values())).device
    read = torch.stack([grad.norm().double().to(home) for grad in grads.values()]).tolist()
    found = {place: norm for place, norm in zip(grads, read, strict=True) if math.isfinite(norm)}
    return tuple(found.get(place, -1.0) for place in range(len(held)))
