"""Compares parameters, optimizers and gradients with each other when an inspected step closes."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.optim import Optimizer

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.optimizer.default_init import DefaultInit
from debugtracer.observers.optimizer.follower import Follower
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring

SHAPES = 4  # shapes of foreign parameters kept as evidence


class WiringObserver(Observer):
    """Identity only, so nothing waits for a device; values are read where gradients go to parameters that nobody
    holds."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.drawn = DefaultInit()
        self.follower = Follower()
        self.stepped: ById[Optimizer, bool] = ById()
        """Optimizers that have stepped: the model of another one may not have run yet."""

    def reset(self) -> None:
        self.follower = Follower()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note which models run in a step."""
        if self.run.inspecting:
            self.follower.entered.add(id(module))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Compare parameters by identity, over all optimizers that are alive."""
        self.stepped[optimizer] = True
        if not self.run.inspecting:
            return
        live = list({id(o): o for o in [*self.run.optimizers, optimizer]}.values())
        counts: dict[int, int] = {}
        for one in live:
            for p in parameters(one):
                counts[id(p)] = counts.get(id(p), 0) + 1
        named = {id(p): (name, p) for module in self.run.modules() for name, p in module.named_parameters()}
        names = self.run.names()
        lost = [p for key, (_, p) in named.items() if p.requires_grad and p.grad is not None and key not in counts]
        drawn = self.drawn.untouched(lost, self.run.iteration)
        wired = tuple(
            ParamWiring(
                name=names.get(key, name),
                numel=p.numel(),
                trainable=p.requires_grad,
                held=counts.get(key, 0),
                has_grad=p.grad is not None,
                drawn=drawn and key not in counts,
            )
            for key, (name, p) in named.items()
        )
        self.run.emit(
            Wiring(
                ref=self.run.ref("update", self.run.iteration - 1),
                params=wired,
                optimizers=tuple(self.described(o, named.keys(), closed=o is optimizer) for o in live),
                follower=self.follower.finds_copy(self.run.modules(), counts),
            )
        )

    def described(self, optimizer: Optimizer, known: object, closed: bool) -> OptimizerWiring:
        """Describe one optimizer beside what the loop has called."""
        held = parameters(optimizer)
        strangers = [p for p in held if id(p) not in known and p.grad is None] if optimizer in self.stepped else []  # type: ignore[operator]
        shapes = tuple(tuple(p.shape) for p in strangers[:SHAPES])
        return OptimizerWiring(
            kind=type(optimizer).__name__,
            frame=self.run.built_at(optimizer),
            held=len(held),
            strangers=len(strangers),
            stranger_shapes=shapes,
            idle=closed and bool(held) and not any(p.requires_grad or p.grad is not None for p in held),
        )
