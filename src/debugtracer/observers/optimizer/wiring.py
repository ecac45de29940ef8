"""Compares parameters, optimizers and gradients with each other when an inspected step closes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.bound_names import bound_name, list_given_to
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.replaced_part import replaced_at
from debugtracer.callsites.second_model import second_model
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.default_init import DefaultInit
from debugtracer.observers.weights.follower import Follower
from debugtracer.observers.weights.trained_copy import copies_trained
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
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
        self.labels: ById[nn.Module, str] = ById()
        """Names that the program has for its models."""
        self.seen: dict[int, tuple[int, int]] | None = None
        """Gradients that no optimizer held when the last step closed, and their versions."""
        self.groups: ById[Optimizer, Frame | None] = ById()
        self.held: ById[Tensor, bool] = ById()
        """Parameters that some optimizer has held so far."""
        self.running: set[int] = set()
        """Parameters of the models that ran with a graph since the last look."""

    def reset(self) -> None:
        self.follower = Follower()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note which models run in a step, and which of them with a graph: others get no gradient by it."""
        if self.run.inspecting:
            self.follower.entered.add(id(module))
            if torch.is_grad_enabled():
                self.running.update(map(id, module.parameters()))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Compare parameters by identity, over all optimizers that are alive."""
        if optimizer not in self.stepped:
            self.stepped[optimizer] = True
        if not self.run.inspecting:
            return
        live = list({id(o): o for o in [*self.run.optimizers, optimizer]}.values())
        counts: dict[int, int] = {}
        for one in live:
            for p in parameters(one):
                counts[id(p)] = counts.get(id(p), 0) + 1
                self.held[p] = True
        named = {id(p): (name, p) for module in self.run.modules() for name, p in module.named_parameters()}
        names = self.run.names()
        models = self.models()
        # the gradient of a model whose training is over is what its last backward has left
        receives = {key for key, (_, p) in named.items() if p.grad is not None and not self.is_over(p, key, counts)}
        self.running.clear()
        lost = [p for key, (_, p) in named.items() if p.requires_grad and key in receives and key not in counts]
        drawn = self.drawn.untouched(lost, self.run.iteration)
        copied = bool(lost) and copies_trained(lost, (p for key, (_, p) in named.items() if key in counts))
        wired = tuple(
            ParamWiring(
                name=names.get(key, name),
                numel=p.numel(),
                trainable=p.requires_grad,
                held=counts.get(key, 0),
                has_grad=key in receives,
                model=models.get(key, ""),
                drawn=drawn and key not in counts,
                copied=copied and key not in counts,
            )
            for key, (name, p) in named.items()
        )
        seen = {id(p): (id(p.grad), p.grad._version) for p in lost if p.grad is not None}
        unheld_gradients, self.seen = self.seen not in (None, seen), seen
        told = [self.described(one, named.keys(), models, counts, one is optimizer, unheld_gradients) for one in live]
        self.run.emit(
            Wiring(
                ref=self.run.ref("update", self.run.iteration - 1),
                params=wired,
                optimizers=tuple(told),
                replaced=self.replaced(lost, told) if lost and any(one.strangers for one in told) else None,
                second=self.second(lost, told),
                follower=self.follower.finds_copy(self.run.modules(), counts),
            )
        )

    def is_over(self, parameter: Tensor, key: int, counts: dict[int, int]) -> bool:
        """Whether an optimizer that is gone has trained it and no model of it ran with a graph since the last look."""
        return key not in counts and key not in self.running and parameter in self.held

    def replaced(self, lost: Sequence[Tensor], told: list[OptimizerWiring]) -> Frame | None:
        """The line that put in the layer of the first of these. Reads source."""
        file = next((one.frame.file for one in told if one.strangers and one.frame), None)
        found = ((root, name) for root in self.run.modules() for name, p in root.named_parameters() if p is lost[0])
        root, name = next(found, (None, ""))
        return replaced_at(root, name.rpartition(".")[0], file) if root is not None else None

    def second(self, lost: Sequence[Tensor], told: list[OptimizerWiring]) -> Frame | None:
        """The line that made the model again, where an optimizer holds as many strangers of the shapes of all that it
        has. Reads source."""
        shapes = [tuple(p.shape) for p in lost]
        twins = (o for o in told if o.strangers == len(lost) and list(o.stranger_shapes) == shapes[:SHAPES])
        if not lost or next(twins, None) is None:
            return None
        wanted = {id(p) for p in lost}
        root = next((r for r in self.run.modules() if {id(p) for p in r.parameters()} == wanted), None)
        return second_model(type(root), program_files() or []) if root is not None else None

    def models(self) -> dict[int, str]:
        """Map the id of each parameter to the program's name of its model; empty where the loop calls one."""
        roots = self.run.modules()
        inside = {id(part) for root in roots for part in root.modules() if part is not root}
        tops = [root for root in roots if id(root) not in inside]
        if len(tops) < 2:
            return {}
        for root in tops:
            if not self.labels.get(root):
                self.labels[root] = bound_name(root) or type(root).__name__
        return {id(p): self.labels.get(root) or "" for root in tops for p in root.parameters()}

    def described(
        self,
        optimizer: Optimizer,
        known: object,
        models: dict[int, str],
        counts: dict[int, int],
        closed: bool,
        unheld_gradients: bool,
    ) -> OptimizerWiring:
        """Describe one optimizer beside what the loop has called and what others hold."""
        held = parameters(optimizer)
        strangers = [p for p in held if id(p) not in known and p.grad is None] if optimizer in self.stepped else []  # type: ignore[operator]
        frame = self.run.built_at(optimizer)
        if optimizer not in self.groups:
            self.groups[optimizer] = list_given_to(frame) if frame is not None else None
        shapes = tuple(tuple(p.shape) for p in strangers[:SHAPES])
        return OptimizerWiring(
            kind=type(optimizer).__name__,
            frame=frame,
            groups=self.groups.get(optimizer),
            shared=sum(counts.get(id(p), 0) > 1 for p in held),
            unheld_gradients=closed and unheld_gradients,
            models=tuple(dict.fromkeys(models[id(p)] for p in held if id(p) in models)),
            held=len(held),
            strangers=len(strangers),
            stranger_shapes=shapes,
            idle=closed and bool(held) and not any(p.requires_grad or p.grad is not None for p in held),
        )
