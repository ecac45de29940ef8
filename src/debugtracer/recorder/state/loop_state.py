"""What a loop steps beside its optimizers (schedulers, GradScalers, averages of the weights) and the random generators,
as one copy."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable
from typing import Any, Protocol

from torch import Tensor

from debugtracer.recorder.state.averages import Averages
from debugtracer.recorder.state.held_weights import Average
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.rng import RngState

SCALER_PARTS = ("_scale", "_growth_tracker")


class LoopParts(Protocol):
    """What a loop steps beside its optimizers; the run state holds it."""

    schedulers: ById[Any, bool]
    scalers: ById[Any, bool]
    averages: Averages


class LoopState:
    """One captured state. No host sync; some ten microseconds a scheduler."""

    def __init__(
        self, schedulers: Iterable[Any], scalers: Iterable[Any], averages: list[Average] | None = None
    ) -> None:
        """Take copies of what steps; `averages` are tensors with their copies."""
        self.averages = averages or []
        self.schedulers = [(weakref.ref(s), copy.deepcopy(s.state_dict())) for s in schedulers]
        self.scalers = [(weakref.ref(s), {name: value.clone() for name, value in parts_of(s).items()}) for s in scalers]
        self.generators = RngState()

    def restore(self, generators: bool) -> None:
        """Restore what is alive; the random generators only where they are asked for: batches that a loop draws itself
        would come again."""
        for scheduler, state in self.schedulers:
            alive = scheduler()
            if alive is not None:
                alive.load_state_dict(copy.deepcopy(state))
        for scaler, parts in self.scalers:
            now = parts_of(scaler())
            for name, value in parts.items():
                if name in now:
                    now[name].copy_(value)
        for average in self.averages:
            average.restore()
        if generators:
            self.generators.restore()


def parts_of(scaler: Any) -> dict[str, Tensor]:
    """The tensors of a GradScaler, by name; none before its first use."""
    found = {name: getattr(scaler, name, None) for name in SCALER_PARTS}
    return {name: value for name, value in found.items() if isinstance(value, Tensor)}
