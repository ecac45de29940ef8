"""Compares parameters and optimizer moments bit by bit between the end of an update and the beginning of the next."""

from __future__ import annotations

import math
import sys
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.checkpoint.checksum import bits
from debugtracer.observers.checkpoint.element_writes import element_written_at
from debugtracer.observers.checkpoint.rest_copies import RestChecksum, RestCopies
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.governor import Part
from debugtracer.recorder.part_cost import PartCost
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.copies import FREE_S
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.snapshot_ring import SHARE
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.number import number

# parameters that are compared in inspected steps whatever it costs (ours): 4 ms with their moments
LITTLE_BYTES = 4 * 1024**2
MOST_BYTES = 256 * 1024**2  # copied at most (ours); above it parameters alone, above that nothing
# times the largest value before, from which several changed elements are a corruption and no clamp, average or new
# start (ours)
GROWN = 8.0
FAR = 1e3  # times the largest value a few updates ago, from which a lone element is a corruption (ours)


class WeightsAtRestObserver(Observer):
    """On the CPU as often as it is cheap; on a device in inspected steps only, for comparing waits for it."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.kept: dict[int, RestCopies] = {}
        self.due: set[int] = set()
        """Optimizers whose copies are of the update before."""
        self.steps: dict[int, int] = {}
        """The update that the copies of an optimizer are of."""
        self.pace = self.last = 0.0
        self.wait = 0
        self.part = PartCost()

    def reset(self) -> None:
        self.kept.clear()
        self.due.clear()

    def missed(self) -> None:
        """Drop the copies: updates have changed the values since."""
        self.kept.clear()
        self.due.clear()

    def step_ended(self, optimizer: Optimizer) -> None:
        """Keep what the update left."""
        now = begin = perf_counter()
        self.pace = 0.9 * self.pace + 0.1 * (now - self.last) if self.last else 0.0
        self.last = now
        self.due.discard(id(optimizer))
        self.wait -= 1
        held = parameters(optimizer)
        if not held or not self.run.affords(Part.SUMMARIES) or not self.looks(held):
            return
        key, state = id(optimizer), optimizer.state
        moments = [
            (p, str(name), value)
            for p in held
            for name, value in (state[p].items() if p in state else ())
            if isinstance(value, Tensor) and value.dim() > 0
        ]
        last = self.kept.get(key)
        if last is not None and last.take([*held, *(value for _, _, value in moments)]):
            pass
        elif (plain := self.plain(held, moments)) is None:
            return
        elif last is None or not last.take([t for _, _, t in plain]):
            self.kept[key] = RestCopies(plain)
        self.due.add(key)
        self.steps[key] = self.run.step
        self.spent(perf_counter() - begin)

    def looks(self, held: list[Tensor]) -> bool:
        """Whether this update is looked at: in inspected steps whatever it costs where that is little, for those are
        dear already; in others as often as it is cheap."""
        if self.run.inspecting:
            return held[0].device.type != "cpu" or sum(held_bytes(p) for p in held) <= LITTLE_BYTES
        return held[0].device.type == "cpu" and self.wait <= 0

    def plain(
        self, held: list[Tensor], moments: list[tuple[Tensor, str, Tensor]]
    ) -> list[tuple[Tensor, str, Tensor]] | None:
        """What can be copied of parameters and moments; None where even the parameters are too many."""
        tensors: list[tuple[Tensor, str, Tensor]] = [(p, "parameter", p) for p in held]
        if sum(held_bytes(t) for _, _, t in [*tensors, *moments]) <= MOST_BYTES:
            tensors += moments
        elif sum(held_bytes(p) for p in held) > MOST_BYTES:
            return None
        return [
            (owner, what, t)
            for owner, what, t in tensors
            if t.layout == torch.strided and not t.is_quantized and not t.is_meta
        ]

    def step_begins(self, optimizer: Optimizer) -> None:
        """Compare the same values just before the next update."""
        self.compare(id(optimizer))

    def incident(self) -> None:
        """Compare at an alarm: no update will begin, and a changed value may be what made the step bad."""
        for key, kept in self.kept.items():
            if key in self.due:
                self.compare(key)
            elif (lone := lone_far_out(kept.kept)) is not None:
                self.compare_tensor(lone, self.run.step - self.steps.get(key, self.run.step))

    def compare(self, key: int) -> None:
        """Find the one tensor that differs from what the last update left."""
        if key not in self.due:
            return
        self.due.discard(key)
        begin = perf_counter()
        changed = self.kept[key].changed()
        if len(changed) == 1:
            self.compare_tensor(changed[0])
        self.spent(perf_counter() - begin)

    def spent(self, seconds: float) -> None:
        """Set the interval to the next comparison by its cost."""
        self.part.counted(seconds)
        allowed = max(SHARE * self.pace, FREE_S)
        self.wait = math.ceil(2 * self.part.usual_s() / allowed)  # a look has two halves

    def compare_tensor(self, kept: RestChecksum, updates: int = 0) -> None:
        """Check the one changed tensor: one element, or several that are far larger. After updates one alone is far
        out."""
        now, owner = kept.tensor(), kept.owner()
        if now is None or owner is None or now.numel() < 2:
            return
        where = (beyond(now, kept.copy) if updates else bits(now) != bits(kept.copy)).nonzero()
        rms = float(kept.copy.detach().abs().double().pow(2).mean().sqrt().item())
        if len(where) > 1:
            sizes = now.detach().abs().double().nan_to_num(math.inf)
            if not float(sizes.max().item()) > GROWN * max(float(kept.copy.detach().abs().max().item()), rms) > 0:
                return
            where = (sizes == sizes.max()).nonzero()[:1]
            count = int((now.detach() != kept.copy).sum().item())
        else:
            count = 1
        index = tuple(where[0].tolist())[: now.dim()]
        old, new = (int(bits(t)[tuple(where[0].tolist())].item()) for t in (kept.copy, now))
        width = 8 * now.element_size()
        flipped = (old ^ new) & ((1 << width) - 1)
        values: list[Any] = [kept.copy[index].item(), now.detach()[index].item()]
        real = [number(float(v)) if not isinstance(v, complex) else number(abs(v)) for v in values]
        self.run.emit(
            ValueChanged(
                ref=self.run.ref("update", self.run.iteration - 1), param=self.run.names().get(id(owner), ""),
                what=kept.what, index=index, before=real[0], after=real[1], rms=number(rms), count=count,
                updates=updates,
                bits=flipped.bit_count(), bit=flipped.bit_length() - 1, width=width,
                written=not updates and now._version != kept.version, frame=element_written_at(now, sys._getframe(1)),
            )
        )  # fmt: skip


def beyond(now: Tensor, copy: Tensor, times: float = FAR) -> Tensor:
    """Mark elements so many times larger than all before, or not finite; FAR is where no number of sane updates
    leads."""
    return ~(now.detach().abs() <= times * copy.abs().max())


def lone_far_out(kept: list[RestChecksum]) -> RestChecksum | None:
    """The one tensor with a lone element far out; None where other parameters have grown too, as those do that
    diverge."""
    there = [(k, now) for k in kept if (now := k.tensor()) is not None and now.shape == k.copy.shape and k.copy.any()]
    far = [k for k, now in there if far_out(now, k.copy)]
    if len(far) != 1:
        return None
    others = [beyond(now, k.copy, GROWN) for k, now in there if k is not far[0] and k.what == "parameter"]
    return None if any(bool(grown.any()) for grown in others) else far[0]


def far_out(now: Tensor, copy: Tensor) -> bool:
    """True for exactly one element far out, among others that have not grown."""
    grown, far = (int(beyond(now, copy, times).sum().item()) for times in (GROWN, FAR))
    return bool(copy.any()) and grown == far == 1
