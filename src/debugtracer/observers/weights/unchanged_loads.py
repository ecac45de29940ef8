"""Finds loads that change nothing although the weights were updated: what was kept of them lies in their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.weights.ties import address
from debugtracer.recorder.state.identity import ById

Pairs = list[tuple[Tensor, Tensor]]
"""Parameters with what each is given."""

LOADS = 3  # in a row that change nothing (ours: one may give back by chance what is there)
SAME = 1e-6  # of a value: what a mean of two equal values is off by in float32 (ours)


class KeptState(NamedTuple):
    """A tensor of a state, the updates before it was taken, its line, and which of all states taken it is."""

    tensor: Callable[[], Tensor | None]
    step: int
    raw: RawFrames
    number: int


class Load(NamedTuple):
    """A load from another memory: the last state that was taken before it, and its line."""

    number: int
    raw: RawFrames


class UnchangedLoads:
    """Asked at each load; a line that has changed anything is not looked at again."""

    def __init__(self) -> None:
        self.left: set[RawFrames] = set()
        self.times: dict[RawFrames, int] = {}
        self.loaded: ById[nn.Module, Load] = ById()
        """The last load of a module."""

    def reset(self) -> None:
        """Forget what was loaded so far."""
        self.left.clear()
        self.times.clear()
        self.loaded = ById()

    def since(self, module: nn.Module, kept: KeptState) -> RawFrames:
        """The line of a load from another memory after a state was taken; empty without one."""
        load = self.loaded.get(module)
        return load.raw if load is not None and load.number >= kept.number else ()

    def given(
        self, own: Pairs, module: nn.Module, taken: Iterable[KeptState], step: int, raw: RawFrames
    ) -> KeptState | None:
        """The state whose memory is the module's, when for the third time in a row a load gave back what was there:
        the state was taken since the load before, is still kept, and updates came after it. Reads the values of a load
        until then. `own`: pairs of a parameter and what it is given; `raw`: the line of the load."""
        states = list(taken)
        before = self.loaded.get(module)
        since = before.number if before is not None else -1
        self.loaded[module] = Load(states[-1].number if states else -1, raw)
        if raw in self.left or not own:
            return None
        kept = next((t for t in states if t.number > since and t.step < step and is_in(t.tensor(), own)), None)
        if kept is None or not all(same(weight, value) for weight, value in own):
            self.left.add(raw)
            return None
        self.times[raw] = self.times.get(raw, 0) + 1
        if self.times[raw] < LOADS:
            return None
        self.left.add(raw)
        return kept


def is_in(state: Tensor | None, own: Pairs) -> bool:
    """Whether a tensor of a state lies in the memory of one of these parameters."""
    at = address(state) if state is not None else None
    return at is not None and any(address(weight) == at for weight, _ in own)


def same(weight: Tensor, value: Tensor) -> bool:
    """Whether a load gives a parameter what it has, but for rounding. One wait for the device."""
    if weight.shape != value.shape or weight.dtype != value.dtype or weight.device != value.device:
        return False
    if not is_dense(weight) or not is_dense(value):
        return False
    with torch.no_grad():
        return torch.allclose(value, weight, rtol=SAME, atol=0.0)
