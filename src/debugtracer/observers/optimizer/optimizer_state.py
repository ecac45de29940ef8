"""Reads how an optimizer treats some parameters: eps and the dtype of its state, decay of normalisation gains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.origins.group_line import decayed_group_line
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.scheduler.scheduler_plan import rates
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.effects import DecayedGains, HalfState
from debugtracer.trace.number import number

NAMED = 4  # gains named as evidence
SPARED_AT = 2  # updates after which a group without decay that holds nothing is told (ours)


class NormDecay:
    """Decay of one optimizer on gains."""

    def __init__(self, gains: list[tuple[str, Tensor]], decay: float, order: int, spared: int | None = None) -> None:
        self.order = order
        self.spared = spared
        """Parameters in the groups without decay; None where there is no such group."""
        self.names = [name for name, _ in gains]
        self.gains = [WeakRef(gain) for _, gain in gains]
        self.decay = decay
        self.at_first = self.size()
        self.pulled = 0.0
        """Sum of lr * decay."""
        self.updates = 0

    def size(self) -> float:
        """The mean absolute value of the gains."""
        alive = [gain for reference in self.gains if (gain := reference()) is not None]
        with torch.no_grad():
            return float(torch.stack([g.detach().abs().mean().float() for g in alive]).mean().item()) if alive else 0.0


class OptimizerStateObserver(Observer):
    """Reads values on inspected steps only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.decays: ById[Optimizer, NormDecay | None] = ById()
        self.count = 0

    def reset(self) -> None:
        self.decays.clear()

    def missed(self) -> None:
        """Leave the gains that a decay pulls at: what it has pulled meanwhile was not summed."""
        for optimizer in list(self.decays):
            self.decays[optimizer] = None

    def step_ended(self, optimizer: Optimizer) -> None:
        """Read the state at its first update, when it exists; later only sums are kept."""
        if optimizer not in self.decays:
            names = self.run.names()
            self.emit_half(optimizer, names)
            self.decays[optimizer] = self.decay_of(optimizer, names)
            self.count += 1
        decay = self.decays[optimizer]
        if decay is None:
            return
        decay.updates += 1
        decay.pulled += max(rates(optimizer), default=0.0) * decay.decay
        if (self.run.inspecting and decay.pulled > 0.1) or (decay.spared == 0 and decay.updates == SPARED_AT):
            self.emit_decay(optimizer, decay)

    def emit_half(self, optimizer: Optimizer, names: dict[int, str]) -> None:
        """Emit one parameter of each half dtype."""
        seen: set[torch.dtype] = set()
        for group in optimizer.param_groups:
            eps = group.get("eps")
            for p in group["params"]:
                dtype = state_dtype(optimizer, p)
                if isinstance(eps, float) and eps > 0 and dtype in HALF and dtype not in seen:
                    seen.add(dtype)
                    facts = torch.finfo(dtype)
                    self.run.emit(
                        HalfState(
                            ref=self.run.ref("update", self.run.iteration - 1),
                            optimizer=self.count,
                            kind=type(optimizer).__name__,
                            frame=self.run.built_at(optimizer),
                            eps=number(eps),
                            dtype=str(dtype).removeprefix("torch."),
                            least=number(facts.smallest_normal * facts.eps),
                            param=names.get(id(p), f"parameter of shape {tuple(p.shape)}"),
                        )
                    )

    def decay_of(self, optimizer: Optimizer, names: dict[int, str]) -> NormDecay | None:
        """The gains it decays; None when there are none."""
        gains = {id(g) for module in self.run.modules() for g in gains_of(module)}
        found = [
            (names.get(id(p), ""), p, float(group["weight_decay"]))
            for group in optimizer.param_groups
            if isinstance(group.get("weight_decay"), (int, float)) and group["weight_decay"] > 0
            for p in group["params"]
            if id(p) in gains and p.requires_grad
        ]
        if not found:
            return None
        spared = [len(group["params"]) for group in optimizer.param_groups if group.get("weight_decay") == 0]
        return NormDecay(
            [(name, p) for name, p, _ in found],
            max(decay for _, _, decay in found),
            self.count,
            sum(spared) if spared else None,
        )

    def emit_decay(self, optimizer: Optimizer, decay: NormDecay) -> None:
        """Emit what decay alone would have done, beside what became of the gains."""
        self.run.emit(
            DecayedGains(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=decay.order,
                kind=type(optimizer).__name__,
                frame=self.run.built_at(optimizer),
                params=tuple(decay.names[:NAMED]),
                count=len(decay.names),
                decay=decay.decay,
                factor=number(math.exp(-decay.pulled)),
                size=number(decay.size() / decay.at_first if decay.at_first else 1.0),
                updates=decay.updates,
                spared=decay.spared,
                group_frame=self.sorted_at(optimizer),
            )
        )

    def sorted_at(self, optimizer: Optimizer) -> Frame | None:
        """The line that sorts the parameters into the group with decay. Reads source."""
        stack = frames_of(self.run.state.optimizers.get(optimizer) or ())
        return guarded("optimizer_state.group")(decayed_group_line)(stack, type(optimizer).__name__)


def state_dtype(optimizer: Optimizer, parameter: Any) -> torch.dtype | None:
    """The dtype in which the second moment of a parameter is kept."""
    state = optimizer.state.get(parameter, {})
    value = next(
        (state[word] for word in ("exp_avg_sq", "square_avg", "sum") if isinstance(state.get(word), Tensor)), None
    )
    return None if value is None else value.dtype


def gains_of(root: nn.Module) -> Iterator[Tensor]:
    """The weights of normalisation layers, known by the name of their class."""
    for module in root.modules():
        # a parametrized one is computed at each look, which a spectral norm remembers
        weight = dict(module._parameters.items()).get("weight")
        if "norm" in type(module).__name__.lower() and isinstance(weight, nn.Parameter) and weight.dim() == 1:
            yield weight
